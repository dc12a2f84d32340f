"""The uncertainty of a difference: interval and p-value from the noise of seeds and the noise of text.

difference ± t(df) √(v_seeds + v_text - v_both), with df by Welch and Satterthwaite. The interaction of seeds and text
is in both of the first two terms and is subtracted once. Welch's other formula, with n + 1 instead of n - 1 and 2
subtracted, is narrower for three seeds, but then the interval covers only 92%.

Neighboring units of text are correlated. v_text is that of a first-order autoregressive series: the correlation ρ of
neighbors is estimated, corrected for its bias, and N units count as N (1 - ρ) / (1 + ρ) independent ones, in the
variance and in its degrees of freedom. `tests/comparison/test_calibration.py` measures the coverage.
S: seeds, U: units of text, K: sums of a unit, N: groups of neighboring units.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from seqlab.errors import DataError
from seqlab.metrics.metric import Value, ratio

LEVEL = 0.05
POWER = 0.8
MOST_GROUPS = 400  # longer series are merged, so that one correlation describes them
CORRELATED = 0.1  # a lower correlation of neighbors counts as none
HIGHEST_CORRELATION = 0.98
TRUST = 0.75  # degrees of freedom of an independent unit, if the correlation is itself an estimate


@dataclass(frozen=True)
class TextNoise:
    """The variance that other text of the same source would cause."""

    variance: float
    units: float  # independent ones: correlated neighbors count less
    df: float


@dataclass(frozen=True)
class Estimate:
    """By how much `b` is above `a`. None is what one seed, or one unit of text, cannot tell."""

    difference: float
    text: TextNoise | None
    v_seeds: float | None = None
    v_both: float = 0.0  # the interaction of seeds and text, which is in v_seeds and in the noise of text
    seed_variances: tuple[float, float] | None = None  # between the runs of a, and of b
    low: float | None = None
    high: float | None = None
    p: float | None = None
    df: float | None = None

    def within(self, span: float | None) -> "Estimate":
        """With the interval cut to differences that a metric of this range can have."""
        if span is None or self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, -span), high=min(self.high, span))

    def seeds_needed(self, level: float) -> int | None:
        """The seeds per side that show the difference at this level; None if none do, or the noise is unknown."""
        if self.seed_variances is None or self.text is None:
            return None
        text = replace(self.text, variance=max(0.0, self.text.variance - self.v_both))
        return seeds_needed(self.difference, self.seed_variances, text, level)


def estimate(a: np.ndarray, b: np.ndarray, value: Value = ratio, span: float | None = None) -> Estimate:
    """From the sums of all runs, (S, U, K); without seeds, as for a baseline, (U, K).

    `span` is the range of a bounded metric: equal scores on few units do not prove equality."""
    a_SUK, b_SUK = (sums if sums.ndim == 3 else sums[None] for sums in (a, b))
    assert a_SUK.shape[1:] == b_SUK.shape[1:], "both sides are scored on the same units of text"
    a_S, b_S = (_values(sums_SUK.sum(1), value) for sums_SUK in (a_SUK, b_SUK))
    a_SN, b_SN = _without(a_SUK, value), _without(b_SUK, value)
    text = _text_noise(b_SN.mean(0) - a_SN.mean(0), a_SUK.shape[1], span)
    result = Estimate(float(b_S.mean() - a_S.mean()), text)

    a_variance, b_variance = _between(a_S, seeded=a.ndim == 3), _between(b_S, seeded=b.ndim == 3)
    if a_variance is None or b_variance is None:
        return result
    terms = [(a_variance / len(a_S), len(a_S) - 1), (b_variance / len(b_S), len(b_S) - 1)]
    v_both = _interaction(a_SN) + _interaction(b_SN)
    result = replace(result, v_seeds=terms[0][0] + terms[1][0], v_both=v_both, seed_variances=(a_variance, b_variance))
    if text is None:
        return result
    low, high, p, df = _interval(result.difference, [*terms, (text.variance, text.df)], v_both)
    return replace(result, low=low, high=high, p=p, df=df)


def level(sums: np.ndarray, value: Value = ratio) -> float:
    """The metric on the whole text, averaged over the seeds if there are any."""
    return float(_values(sums.sum(-2), value).mean())


def level_interval(sums_SUK: np.ndarray, value: Value = ratio, span: float | None = None) -> tuple[float, float] | None:
    """The 95% interval of the metric for fresh seeds and fresh text; None with one seed or one unit of text."""
    runs_S = _values(sums_SUK.sum(1), value)
    without_SN, seeds = _without(sums_SUK, value), len(runs_S)
    text = _text_noise(without_SN.mean(0), sums_SUK.shape[1], span)
    if seeds < 2 or text is None:
        return None
    terms = [(float(runs_S.var(ddof=1)) / seeds, seeds - 1), (text.variance, text.df)]
    low, high, *_ = _interval(float(runs_S.mean()), terms, _interaction(without_SN))
    return low, high


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: the probability of any wrong claim among all stays below the level of each test."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def seeds_needed(
    difference: float, seed_variances: Sequence[float], text: TextNoise, level: float = LEVEL
) -> int | None:
    """The seeds per side that give 80% power for this difference on the same text; None: no number is enough.

    `level` is the one that Holm's correction leaves for the test. `text` is the noise of text alone, without its
    interaction with seeds. The variances are taken as true. Power is 80% if the difference is
    t(1 - level / 2) + t(0.8) standard errors, which approximates the noncentral t.
    """

    def is_enough(seeds: int) -> bool:
        terms = [(variance / seeds, seeds - 1) for variance in seed_variances]
        total, df = _freedom([*terms, (text.variance, text.df)])
        return abs(difference) >= (stdtrit(df, 1 - level / 2) + stdtrit(df, POWER)) * math.sqrt(total)

    most = 2**50  # the noise of seeds is negligible by then
    if difference == 0 or not is_enough(most):
        return None
    return bisect_left(range(most), True, lo=2, key=is_enough)


def _values(sums: np.ndarray, value: Value) -> np.ndarray:
    with np.errstate(all="ignore"):
        values = np.asarray(value(sums), float)
    if not np.isfinite(values).all():
        raise DataError(
            "A run's score on the held-out data, or on the data without a part of it, is not a finite number: leave "
            "out the run that diverged, or hold out more data."
        )
    return values


def _between(runs_S: np.ndarray, seeded: bool) -> float | None:
    """The variance between runs; unknown for a single run that depends on its seed."""
    if not seeded:
        return 0.0
    return float(runs_S.var(ddof=1)) if len(runs_S) > 1 else None


def _without(sums_SUK: np.ndarray, value: Value) -> np.ndarray:
    """The grouped jackknife: the metric of each seed without each group of neighboring units."""
    units = sums_SUK.shape[1]
    groups = units // -(-units // MOST_GROUPS)  # of nearly equal size: other sizes would hide correlation
    if groups == 1:
        return np.zeros((len(sums_SUK), 1))
    groups_SNK = np.add.reduceat(sums_SUK, np.arange(groups) * units // groups, axis=1)
    return _values(groups_SNK.sum(1, keepdims=True) - groups_SNK, value)


def _interaction(without_SN: np.ndarray) -> float:
    """The variance of the mean that seeds and text cause together: the residuals of a two-way table."""
    seeds, groups = without_SN.shape
    if seeds < 2 or groups < 2:
        return 0.0
    residuals_SN = without_SN - without_SN.mean(0) - without_SN.mean(1, keepdims=True) + without_SN.mean()
    return float((groups - 1) * (residuals_SN**2).sum() / ((seeds - 1) * seeds * groups))


def _text_noise(without_N: np.ndarray, units: int, span: float | None) -> TextNoise | None:
    """From the jackknife values of an autoregressive series; None for a single group.

    For a mean, leaving out a unit gives the unit's value up to sign and scale, so the correlations agree. With `span`,
    two standard errors are at least the rule of three: what no unit out of n shows may still be true of 3 / n."""
    groups = len(without_N)
    if groups < 2:
        return None
    inflation, df = 1.0, float(groups - 1)
    correlation = _lag_1(without_N)
    if correlation > CORRELATED:
        # the estimate is too low by about (1 + 4ρ) / N (Kendall 1954, Marriott and Pope 1954)
        correlation = min(HIGHEST_CORRELATION, correlation + (1 + 4 * correlation) / groups)
        lags_N = np.arange(1, groups)
        inflation = 1 + 2 * float((1 - lags_N / groups) @ correlation**lags_N)
        df = max(1.0, TRUST * groups / inflation - 1)
    # correlated units also vary less around their own mean than around the true one
    shrunk = max(0.02, 1 - (inflation - 1) / (groups - 1))
    variance = float((groups - 1) * without_N.var()) * inflation / shrunk
    if span is not None:
        variance += (3 * span / units / 2) ** 2
    return TextNoise(variance, groups / inflation, df)


def _lag_1(series_N: np.ndarray) -> float:
    centered_N = series_N - series_N.mean()
    square = float(centered_N @ centered_N)
    return float(centered_N[:-1] @ centered_N[1:]) / square if square else 0.0


def _freedom(terms: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of independent variances, and its degrees of freedom."""
    total = math.fsum(variance for variance, _ in terms)
    known = [((variance / total) ** 2, df) for variance, df in terms if variance > 0]
    if not known:
        return 0.0, float(max(df for _, df in terms))
    return total, 1 / math.fsum(square / df for square, df in known)


def _interval(
    difference: float, terms: Sequence[tuple[float, float]], shared: float
) -> tuple[float, float, float, float]:
    """Low, high, p and degrees of freedom; `shared` is the variance that is in more than one term."""
    total, df = _freedom(terms)
    if total == 0:
        return difference, difference, float(difference == 0), df
    net = max(total - shared, *(variance for variance, _ in terms))
    df *= (net / total) ** 2
    error = math.sqrt(net)
    half = float(stdtrit(df, 1 - LEVEL / 2)) * error
    return difference - half, difference + half, float(2 * stdtr(df, -abs(difference) / error)), df
