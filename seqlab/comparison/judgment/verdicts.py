"""From numbers to words: a verdict and a sentence for each pair."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from seqlab.comparison.judgment.statistics import LEVEL, Estimate, estimate, holm, level
from seqlab.comparison.results import BaselineResult, Entrant, Pair, RunResult
from seqlab.metrics.metric import Metric

ESTIMAND = (
    "The expected difference between two architectures for fresh seeds and fresh data of the same source, "
    "given this training data and the chosen learning rates."
)
BETTER, SUGGESTIVE, AHEAD = "better", "suggestive", "ahead on this data"
EQUAL, UNCLEAR = "equal for practical purposes", "not distinguishable"
SAME = 0.05  # costs count as equal if their ratio is this close to 1
NO_SEEDS_SETTLE = "more seeds will not settle this; more test data could"
REALISTIC_SEEDS = 100  # more are not worth suggesting

# by verdict: how the entrant ahead relates to the other
RELATIONS = {
    BETTER: "better than {}",
    SUGGESTIVE: "suggestively ahead of {}",
    AHEAD: "ahead of {} on this data, where the noise is unknown",
    EQUAL: "equal for practical purposes to {}",
    UNCLEAR: "not distinguishable from {}",
}


def judge_pairs(entrants: Sequence[Entrant], runs: Sequence[RunResult], metric: Metric) -> list[Pair]:
    """All pairs, the best first. Entrants without a run are left out."""
    sums = _sums_by_name(entrants, runs)
    ranked = sorted(sums, key=lambda name: level(sums[name], metric.value), reverse=not metric.lower_is_better)
    seconds = {run.name: run.seconds for run in runs}
    spread = {entrant.name: entrant.step_spread for entrant in entrants}
    two = combinations(ranked, 2)
    return judge(two, sums, metric, lambda a, b: _cost(seconds[a], seconds[b], spread[a] + spread[b]))


def judge_baseline(
    entrants: Sequence[Entrant], runs: Sequence[RunResult], baselines: Sequence[BaselineResult], metric: Metric
) -> list[Pair]:
    """Every entrant against the main baseline, which has no seeds. Empty without one, or without its sums."""
    baseline = next((entry for entry in baselines if entry.role == "main" and entry.sums is not None), None)
    if baseline is None:
        return []
    sums = _sums_by_name(entrants, runs)
    names = [(name, baseline.name) for name in sums]
    return judge(names, sums | {baseline.name: np.array(baseline.sums, float)}, metric)


def baseline_sentence(pairs: Sequence[Pair], baselines: Sequence[BaselineResult], metric: Metric) -> str:
    """Whether the models are better than the main baseline; empty if they were not compared with it."""
    baseline = next((entry.name for entry in baselines if entry.role == "main"), None)
    if not pairs or baseline is None:
        return ""
    nearest = min(pairs, key=lambda pair: pair.difference)
    by = amount(nearest.difference, nearest.low, nearest.high, metric)
    beaten = [pair.b for pair in pairs if pair.a == baseline and pair.verdict == BETTER]
    if len(beaten) == len(pairs):
        return f"The baseline {baseline} is still better than every model: {nearest.b} comes nearest, behind by {by}."
    if all(pair.b == baseline and pair.verdict == BETTER for pair in pairs):
        return f"Every model is better than the baseline {baseline}: {nearest.a} the least, by {by}."
    rest = [pair for pair in pairs if pair.b not in beaten]
    clauses = [f"it is {words}" for words in _related((pair.b, pair.verdict) for pair in rest if pair.a == baseline)]
    for verdict, relation in RELATIONS.items():
        names = [pair.a for pair in rest if pair.b == baseline and pair.verdict == verdict]
        if names:
            clauses.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {relation.format('it')}")
    lead = f"better than {listed(beaten)}" if beaten else "not shown to be better than any model"
    return f"The baseline {baseline} is {lead}: {'; '.join(clauses)}."


def _sums_by_name(entrants: Sequence[Entrant], runs: Sequence[RunResult]) -> dict[str, np.ndarray]:
    sums = {entrant.name: [run.sums for run in runs if run.name == entrant.name] for entrant in entrants}
    return {name: np.array(of_runs, float) for name, of_runs in sums.items() if of_runs}


def judge(
    names: Iterable[tuple[str, str]],
    sums: Mapping[str, np.ndarray],
    metric: Metric,
    cost: Callable[[str, str], str] = lambda a, b: "",
) -> list[Pair]:
    """Pairs of names by their sums, (S, U, K), or (U, K) for what has no seeds; the better one of each is first."""
    estimates: list[tuple[str, str, Estimate]] = []
    for pair in names:
        a, b = sorted(pair, key=lambda name: level(sums[name], metric.value), reverse=not metric.lower_is_better)
        below, above = (a, b) if metric.lower_is_better else (b, a)
        estimated = estimate(sums[below], sums[above], metric.value, metric.unit_span)
        estimates.append((a, b, estimated.within(metric.span)))
    tested = [estimated.p for *_, estimated in estimates if estimated.p is not None]
    adjusted = iter(holm(tested))
    pairs = []
    for a, b, estimated in estimates:
        adjusted_p = None if estimated.p is None else next(adjusted)
        stricter = sum(p >= (estimated.p or 0.0) for p in tested)  # Holm divides the level by so many
        pair = _pair(a, b, estimated, adjusted_p, estimated.seeds_needed(LEVEL / max(1, stricter)), metric)
        pairs.append(replace(pair, sentence=_sentence(pair, metric, cost(a, b), len(tested))))
    return pairs


def _pair(
    a: str, b: str, estimated: Estimate, adjusted: float | None, seeds_needed: int | None, metric: Metric
) -> Pair:
    text = estimated.text
    statistics = {key: getattr(estimated, key) for key in ("difference", "low", "high", "p", "df", "v_seeds")}
    return Pair(
        a=a,
        b=b,
        adjusted_p=adjusted,
        # unknown for a single unit, and then there is no interval
        v_text=text.variance if text else 0.0,
        units=max(1, round(text.units)) if text else 1,
        seeds_needed=seeds_needed,
        verdict=_verdict(estimated, adjusted, metric.negligible),
        sentence="",
        **statistics,
    )


def _verdict(estimated: Estimate, adjusted: float | None, negligible: float) -> str:
    if estimated.low is None or estimated.high is None or adjusted is None:
        return AHEAD if estimated.difference else UNCLEAR
    if adjusted < LEVEL:
        return BETTER
    if estimated.low > 0:
        return SUGGESTIVE
    # the difference is not negative, so `low` is no further from 0 than `high`
    return EQUAL if estimated.high <= negligible else UNCLEAR


def _sentence(pair: Pair, metric: Metric, cost: str, tested: int) -> str:
    by = amount(pair.difference, pair.low, pair.high, metric) + cost
    if pair.low is None:
        lead = f"is {AHEAD} by {by}" if pair.difference else f"scores the same on this data{cost}"
        noise = "seed the noise of seeds" if pair.v_seeds is None else "unit of data the noise of data"
        return f"Against {pair.b}, {pair.a} {lead}; with one {noise} is unknown"
    if pair.verdict == BETTER:
        return f"{pair.a} is better than {pair.b} by {by}{_if_negligible(pair, metric)}"
    if pair.verdict == SUGGESTIVE:
        why = f"suggestive only, because {tested} pairs were judged (adjusted p = {pair.adjusted_p:.2g})"
        return f"{pair.a} is ahead of {pair.b} by {by}; {why}{_if_negligible(pair, metric)}"
    both = f"{pair.a} and {pair.b} are {pair.verdict}: {pair.a} is ahead by {by}"
    return both if pair.verdict == EQUAL else f"{both}; {_what_would_settle(pair)}"


def _if_negligible(pair: Pair, metric: Metric) -> str:
    """A difference may be significant and still too small to matter."""
    within = pair.high is not None and pair.high <= metric.negligible
    return f"; too little to matter in practice (below {metric.negligible:g})" if within else ""


def _what_would_settle(pair: Pair) -> str:
    if pair.seeds_needed is not None and pair.seeds_needed > REALISTIC_SEEDS:
        return "the noise of seeds is far larger than this difference: no realistic number of seeds would show it"
    if pair.seeds_needed is not None:
        return f"with {pair.seeds_needed:,} seeds such a difference would be shown at 80% power"
    if not pair.difference:
        return "there is no difference to show"
    return "more test data could settle this" if pair.v_seeds == 0 else NO_SEEDS_SETTLE


def _cost(a_seconds: float, b_seconds: float, spread: float) -> str:
    """How the times compare; `spread` is the sum of the relative spreads of both timings."""
    if not (a_seconds > 0 and b_seconds > 0):
        return ""
    apart = abs(a_seconds / b_seconds - 1)
    if SAME < apart <= spread:
        return f", in about the same time (timings vary by {spread:.0%})"
    return ", in the same time" if apart <= SAME else f", at {times(a_seconds, b_seconds)} times the time"


def times(cost: float, other: float) -> str:
    """Their ratio in two digits."""
    ratio = cost / other
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def amount(difference: float, low: float | None, high: float | None, metric: Metric) -> str:
    """Two or three decimals, and more if a number or half the interval would be printed as zero."""
    bounds = [] if low is None or high is None else [low, high]
    shown = [abs(number) for number in (difference, *bounds, (bounds[-1] - bounds[0]) / 2 if bounds else 0.0) if number]
    digits = min(6, max(min(3, metric.digits), -math.floor(math.log10(min(shown, default=1.0)))))
    written = [f"{round(number, digits) + 0.0:.{digits}f}" for number in (difference, *bounds)]
    interval = f" (95% interval {' to '.join(written[1:])})" if bounds else ""
    return f"{written[0]} {metric.difference_unit}{interval}"


def _related(verdicts: Iterable[tuple[str, str]]) -> list[str]:
    """A phrase for each verdict, with the names that it applies to."""
    names: dict[str, list[str]] = {verdict: [] for verdict in RELATIONS}
    for name, verdict in verdicts:
        names[verdict].append(name)
    return [RELATIONS[verdict].format(listed(found)) for verdict, found in names.items() if found]


def listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
