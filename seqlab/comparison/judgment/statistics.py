"""How sure a difference is: its interval and p from the noise of seeds and the noise of text.

difference +- t(df) sqrt(v_seeds + v_text), df by Welch and Satterthwaite. Noise that seeds and text make together is
in both terms, so that the interval is a little too wide where it is large, never too narrow. Welch's other formula,
which counts n + 1 for n - 1 and takes off 2, is narrower for three seeds, but then seeds and text together are
covered too seldom (92 %). S: seeds, U: units of text, K: sums of a unit, N: units after merging.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from seqlab.errors import DataError
from seqlab.metrics.metric import Value, ratio

LEVEL = 0.05
POWER = 0.8
CORRELATED = 0.1  # neighbouring units that are more alike than this are merged
FEWEST = 20  # units that merging leaves


@dataclass(frozen=True)
class Estimate:
    """By how much `b` is above `a`. None stands for what cannot be known: from one seed, or from one unit of text."""

    difference: float
    v_text: float | None
    units: int  # after merging
    v_seeds: float | None = None
    seed_variances: tuple[float, float] | None = None  # between the runs of a and of b
    low: float | None = None
    high: float | None = None
    p: float | None = None
    df: float | None = None


def estimate(a: np.ndarray, b: np.ndarray, value: Value = ratio) -> Estimate:
    """From the sums of the runs of each side, (S, U, K); of what has no seeds, such as counting, (U, K)."""
    a_SUK, b_SUK = (sums if sums.ndim == 3 else sums[None] for sums in (a, b))
    assert a_SUK.shape[1:] == b_SUK.shape[1:], "both sides are scored on the same units of text"
    a_S, b_S = (_values(sums_SUK.sum(1), value) for sums_SUK in (a_SUK, b_SUK))
    without_N = _merged(a_SUK.shape[1], lambda left: _without(b_SUK, left, value) - _without(a_SUK, left, value))
    units = len(without_N)
    v_text = float((units - 1) * without_N.var()) if units > 1 else None
    found = Estimate(float(b_S.mean() - a_S.mean()), v_text, units)

    a_variance, b_variance = _between(a_S, seeded=a.ndim == 3), _between(b_S, seeded=b.ndim == 3)
    if a_variance is None or b_variance is None:
        return found
    terms = [(a_variance / len(a_S), len(a_S) - 1), (b_variance / len(b_S), len(b_S) - 1)]
    found = replace(found, v_seeds=terms[0][0] + terms[1][0], seed_variances=(a_variance, b_variance))
    if v_text is None:
        return found
    low, high, p, df = _interval(found.difference, [*terms, (v_text, units - 1)])
    return replace(found, low=low, high=high, p=p, df=df)


def level(sums: np.ndarray, value: Value = ratio) -> float:
    """The metric on the whole text, averaged over the seeds where there are any."""
    return float(_values(sums.sum(-2), value).mean())


def level_interval(sums_SUK: np.ndarray, value: Value = ratio) -> tuple[float, float] | None:
    """The 95 % of the metric for fresh seeds and fresh text; None from one seed or one unit of text."""
    runs_S = _values(sums_SUK.sum(1), value)
    without_N = _merged(sums_SUK.shape[1], lambda left: _without(sums_SUK, left, value))
    seeds, units = len(runs_S), len(without_N)
    if seeds < 2 or units < 2:
        return None
    terms = [(float(runs_S.var(ddof=1)) / seeds, seeds - 1), (float((units - 1) * without_N.var()), units - 1)]
    low, high, *_ = _interval(float(runs_S.mean()), terms)
    return low, high


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that a wrong claim among all of them has at most the probability at which each is judged."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, which in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[which]))
        adjusted[which] = highest
    return adjusted


def seeds_needed(difference: float, seed_variances: Sequence[float], v_text: float, units: int) -> int | None:
    """The seeds of each side with which this difference would be shown four times out of five; None: no number would.

    Taken as true are the variances, and that power is 80 % where the difference is t(0.975) + t(0.8) standard errors:
    an approximation of the noncentral t. The text stays the same.
    """

    def shown(seeds: int) -> bool:
        terms = [(variance / seeds, seeds - 1) for variance in seed_variances]
        total, df = _freedom([*terms, (v_text, units - 1)])
        return abs(difference) >= (stdtrit(df, 1 - LEVEL / 2) + stdtrit(df, POWER)) * math.sqrt(total)

    enough = 2
    while difference == 0 or not shown(enough):
        enough *= 2
        if enough > 2**50:  # nothing is left of the noise of seeds
            return None
    few = max(1, enough // 2)
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if shown(middle) else (middle, enough)
    return enough


def _values(sums: np.ndarray, value: Value) -> np.ndarray:
    with np.errstate(all="ignore"):
        found = np.asarray(value(sums), float)
    if not np.isfinite(found).all():
        raise DataError(
            "A run's score on the held-out text, or on the text without one of its blocks, is not a finite number: "
            "leave out the run that diverged, or hold out more text."
        )
    return found


def _between(runs_S: np.ndarray, seeded: bool) -> float | None:
    """The variance between runs; of one run that another seed would change it is not known."""
    if not seeded:
        return 0.0
    return float(runs_S.var(ddof=1)) if len(runs_S) > 1 else None


def _merged(units: int, without: Callable[[int], np.ndarray]) -> np.ndarray:
    """What is left without each unit, after neighbours were merged until they have little to do with each other.

    Of a mean it is what stood in the unit that was left out, but for sign and scale; so their correlations agree.
    """
    together, left = 1, units
    while True:
        without_N = without(left)
        if left <= FEWEST or _lag_1(without_N) < CORRELATED:
            return without_N
        together += 1
        left = max(FEWEST, units // together)


def _without(sums_SUK: np.ndarray, left: int, value: Value) -> np.ndarray:
    """The grouped jackknife: the metric, averaged over seeds, on the text without each of `left` groups of units."""
    units = sums_SUK.shape[1]
    if left == 1:
        return np.zeros(1)
    groups_SNK = np.add.reduceat(sums_SUK, np.arange(left) * units // left, axis=1)
    return _values(groups_SNK.sum(1, keepdims=True) - groups_SNK, value).mean(0)


def _lag_1(series_N: np.ndarray) -> float:
    centered_N = series_N - series_N.mean()
    square = float(centered_N @ centered_N)
    return float(centered_N[:-1] @ centered_N[1:]) / square if square else 0.0


def _freedom(terms: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The sum of independent variances, each with its degrees of freedom, and the degrees of freedom of the sum."""
    total = math.fsum(variance for variance, _ in terms)
    known = [((variance / total) ** 2, df) for variance, df in terms if variance > 0]
    if not known:
        return 0.0, float(max(df for _, df in terms))
    return total, 1 / math.fsum(square / df for square, df in known)


def _interval(difference: float, terms: Sequence[tuple[float, float]]) -> tuple[float, float, float, float]:
    """Low, high, p and degrees of freedom."""
    total, df = _freedom(terms)
    if total == 0:
        return difference, difference, float(difference == 0), df
    error = math.sqrt(total)
    half = float(stdtrit(df, 1 - LEVEL / 2)) * error
    return difference - half, difference + half, float(2 * stdtr(df, -abs(difference) / error)), df
