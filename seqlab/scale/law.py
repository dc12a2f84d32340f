"""A scaling law, L = E + A / N^a + B / D^b, fitted to runs of several sizes N and amounts of data D (Hoffmann et al.
2022), and what it predicts, with an interval.

Residuals of log L are minimized with a robust loss. The interval is a bootstrap: losses are drawn anew around the
fitted law with the spread of its residuals, fitted and extrapolated again. A law that the runs do not determine is
refused.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from seqlab.errors import DataError

LEAST_RUNS, LEAST_VALUES = 9, 3  # runs; different sizes, and amounts of data
LEAST_SPAN = 8.0  # of the largest size, or amount, to the smallest
LEAST_EXPLAINED = 0.9  # share of the variance of log L
WIDEST = 0.25  # of an interval, as a share of the predicted loss
ROBUST = 0.01  # residuals of log L beyond which a run counts less
EXPONENTS = (0.01, 2.0)
RESAMPLES = 100
STARTS = [(a, b, e) for a in (0.2, 0.5) for b in (0.2, 0.5) for e in (0.3, 0.8)]


@dataclass(frozen=True)
class TrainedPoint:
    """One run: parameters, training tokens, and the loss on held-out text."""

    parameters: float
    tokens: float
    loss: float


@dataclass(frozen=True)
class ScalingLaw:
    """`spread` is the standard deviation of log L around the law."""

    E: float
    A: float
    B: float
    a: float
    b: float
    spread: float
    explained: float
    points: tuple[TrainedPoint, ...]

    def loss(self, parameters: float, tokens: float) -> float:
        return self.E + self.A * parameters**-self.a + self.B * tokens**-self.b

    def interval(self, parameters: float, tokens: float, share: float = 0.95, seed: int = 0) -> tuple[float, float]:
        """Of the loss at this size and amount of data, for a run as those of the fit."""
        draw = np.random.default_rng(seed)
        sizes, amounts, _ = _columns(self.points)
        center = np.log([self.loss(n, d) for n, d in zip(sizes, amounts, strict=True)])
        drawn = []
        for _ in range(RESAMPLES):
            values = _solve(sizes, amounts, center + draw.normal(0, self.spread, len(center)), [self._vector])
            predicted = float(_log_loss(values, np.array([parameters]), np.array([tokens]))[0])
            drawn.append(predicted + draw.normal(0, self.spread))
        low, high = np.quantile(np.exp(drawn), [(1 - share) / 2, (1 + share) / 2])
        return float(low), float(high)

    @property
    def _vector(self) -> np.ndarray:
        return np.array([np.log(self.E), np.log(self.A), np.log(self.B), self.a, self.b])


def fit_law(points: Sequence[TrainedPoint]) -> ScalingLaw:
    """DataError says what is missing where the runs do not determine a law."""
    _refuse_narrow(points)
    sizes, amounts, log_losses = _columns(points)
    spread = float(np.exp(log_losses).max() - np.exp(log_losses).min())
    lowest = float(np.exp(log_losses).min())
    starts = [
        np.array([np.log(lowest * e), np.log(spread * sizes.min() ** a), np.log(spread * amounts.min() ** b), a, b])
        for a, b, e in STARTS
    ]
    values = _solve(sizes, amounts, log_losses, starts)
    residuals = log_losses - _log_loss(values, sizes, amounts)
    explained = 1 - float(residuals.var() / log_losses.var()) if log_losses.var() else 0.0
    if explained < LEAST_EXPLAINED:
        raise DataError(
            f"the law explains {explained:.0%} of the variance of the losses, and {LEAST_EXPLAINED:.0%} are needed: "
            f"the runs differ by more than size and data. Use runs of one architecture, tuned alike, with enough "
            f"steps, and more seeds."
        )
    noise = float(np.sqrt((residuals**2).sum() / max(1, len(points) - len(values))))
    offset, size_factor, data_factor = (float(np.exp(value)) for value in values[:3])
    a, b = float(values[3]), float(values[4])
    return ScalingLaw(offset, size_factor, data_factor, a, b, noise, explained, tuple(points))


def extrapolate(law: ScalingLaw, parameters: float, tokens: float) -> tuple[float, float, float]:
    """The loss and its interval; DataError where the runs leave it open."""
    loss, (low, high) = law.loss(parameters, tokens), law.interval(parameters, tokens)
    if (high - low) / loss > WIDEST:
        raise DataError(
            f"the runs do not say what a model of {parameters:.3g} parameters reaches with {tokens:.3g} tokens: the "
            f"law gives {loss:.3f} nats, and anything from {low:.3f} to {high:.3f} fits them. Add larger models "
            f"trained on more text, or ask for less."
        )
    return loss, low, high


def _refuse_narrow(points: Sequence[TrainedPoint]) -> None:
    if len(points) < LEAST_RUNS:
        raise DataError(
            f"a law of size and data needs at least {LEAST_RUNS} runs of one architecture, such as {LEAST_VALUES} "
            f"sizes by {LEAST_VALUES} amounts of data; here are {len(points)}."
        )
    for name, values in {
        "sizes": [point.parameters for point in points],
        "amounts of training tokens": [point.tokens for point in points],
    }.items():
        distinct, span = len(set(values)), max(values) / min(values)
        if distinct < LEAST_VALUES or span < LEAST_SPAN:
            raise DataError(
                f"a law needs {LEAST_VALUES} different {name}, the largest at least {LEAST_SPAN:g} times the smallest; "
                f"the runs have {distinct}, from {min(values):,.0f} to {max(values):,.0f}, which is "
                f"{math.floor(100 * span) / 100:g} times. Train further ones: --hidden and --layers for the size, "
                f"--steps for the data."
            )


def _columns(points: Sequence[TrainedPoint]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.array([point.parameters for point in points], float),
        np.array([point.tokens for point in points], float),
        np.log([point.loss for point in points]),
    )


def _log_loss(values: np.ndarray, sizes: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    terms = np.stack([
        np.full(len(sizes), values[0]),
        values[1] - values[3] * np.log(sizes),
        values[2] - values[4] * np.log(amounts),
    ])  # fmt: skip
    return np.logaddexp.reduce(terms, axis=0)


def _solve(sizes: np.ndarray, amounts: np.ndarray, log_losses: np.ndarray, starts: Sequence[np.ndarray]) -> np.ndarray:
    """The values (log E, log A, log B, a, b) with the least robust loss."""
    log_sizes, log_amounts = np.log(sizes), np.log(amounts)

    def residuals(values: np.ndarray) -> np.ndarray:
        return _log_loss(values, sizes, amounts) - log_losses

    def slopes(values: np.ndarray) -> np.ndarray:
        total = _log_loss(values, sizes, amounts)
        first = np.exp(values[0] - total)
        second = np.exp(values[1] - values[3] * log_sizes - total)
        third = np.exp(values[2] - values[4] * log_amounts - total)
        return np.stack([first, second, third, -second * log_sizes, -third * log_amounts], axis=1)

    low = [-10.0, -10.0, -10.0, EXPONENTS[0], EXPONENTS[0]]
    high = [5.0, 60.0, 60.0, EXPONENTS[1], EXPONENTS[1]]
    jacobian: Any = slopes  # scipy's annotation allows names only
    solved = [
        least_squares(
            residuals, np.clip(start, low, high), jac=jacobian, bounds=(low, high), loss="soft_l1", f_scale=ROBUST,
            x_scale="jac", max_nfev=200, ftol=1e-6, xtol=1e-6, gtol=1e-6,
        )
        for start in starts
    ]  # fmt: skip
    return min(solved, key=lambda found: found.cost).x
