"""What the numbers allow to be said: a word and a sentence for each pair, and a recommendation under each lens."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from seqlab.comparison.judgment.statistics import LEVEL, Estimate, estimate, holm, level, seeds_needed
from seqlab.comparison.results import Advice, BaselineResult, Entrant, Pair, RunResult
from seqlab.metrics.metric import Metric

ESTIMAND = (
    "The expected difference between two architectures for fresh seeds and fresh text of the same source, "
    "given this training text and the chosen learning rates."
)
BETTER, SUGGESTIVE, AHEAD = "better", "suggestive", "ahead on this text"
EQUAL, UNCLEAR = "equal for practical purposes", "not distinguishable"
SAME = 0.05  # a ratio of costs this near to 1 is not worth a number
MEMORY_LENGTH = "1000"  # tokens that stand there already when memory is compared

# by verdict: what the one ahead is to the other
RELATIONS = {
    BETTER: "better than {}",
    SUGGESTIVE: "suggestively ahead of {}",
    AHEAD: "ahead on this text of {}, where the noise is unknown",
    EQUAL: "equal for practical purposes to {}",
    UNCLEAR: "not distinguishable from {}",
}
# by verdict: what a contender is to the best
CONTENDING = {
    UNCLEAR: "is not distinguishable from it",
    EQUAL: "is equal to it for practical purposes",
    AHEAD: "is hardly behind it on this text",
}
# by lens: how the cheapest is called, and how it stands to another
LENSES = {
    "time": ("the fastest to train", "{} trains in {} of the time of {}"),
    "size": ("the smallest", "{} has {} of the parameters of {}"),
    "memory": ("the lightest when generating", "{} needs {} of the memory of {} when generating"),
}


def judge_pairs(entrants: Sequence[Entrant], runs: Sequence[RunResult], metric: Metric) -> list[Pair]:
    """All pairs, the best first. Entrants without a run are left out."""
    sums = _sums_by_name(entrants, runs)
    ranked = sorted(sums, key=lambda name: level(sums[name], metric.value), reverse=not metric.lower_is_better)
    seconds = {run.name: run.seconds for run in runs}
    return _judged(combinations(ranked, 2), sums, metric, lambda a, b: _cost(seconds[a], seconds[b]))


def judge_baseline(
    entrants: Sequence[Entrant],
    runs: Sequence[RunResult],
    baselines: Sequence[BaselineResult],
    metric: Metric,
) -> list[Pair]:
    """Every entrant against the main baseline, which has no seeds. Empty without one, or without its sums."""
    baseline = next((one for one in baselines if one.role == "main" and one.sums is not None), None)
    if baseline is None:
        return []
    sums = _sums_by_name(entrants, runs)
    names = [(name, baseline.name) for name in sums]
    return _judged(names, sums | {baseline.name: np.array(baseline.sums, float)}, metric, lambda a, b: "")


def baseline_sentence(pairs: Sequence[Pair], baselines: Sequence[BaselineResult], metric: Metric) -> str:
    """Whether the models are better than the main baseline; empty if they were not compared with it."""
    baseline = next((one.name for one in baselines if one.role == "main"), None)
    if not pairs or baseline is None:
        return ""
    nearest = min(pairs, key=lambda pair: pair.difference)
    by = _amount(nearest.difference, nearest.low, nearest.high, metric)
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
            clauses.append(f"{_listed(names)} {'is' if len(names) == 1 else 'are'} {relation.format('it')}")
    lead = _listed(beaten) if beaten else "no model"
    return f"The baseline {baseline} is better than {lead}: {'; '.join(clauses)}."


def seed_warnings(runs: Sequence[RunResult]) -> list[str]:
    """What too few seeds leave open."""
    names = [run.name for run in runs]
    one, two = ([name for name in dict.fromkeys(names) if names.count(name) == count] for count in (1, 2))
    found = []
    if one:
        found.append(
            f"One seed of {_listed(one)}: the noise of seeds is unknown, so that the word is 'ahead on this text', "
            "never 'better'. Use three or more."
        )
    if two:
        found.append(
            f"Two seeds of {_listed(two)}: the noise of seeds is hardly known from two, so that intervals are wide and "
            "may be wrong. Use three or more."
        )
    return found


def recommendation(
    entrants: Sequence[Entrant], runs: Sequence[RunResult], metric: Metric, pairs: Sequence[Pair]
) -> list[Advice]:
    """Which to choose for quality, and which of those that quality does not rule out for time, size and memory.

    Contenders are the best mean and all that it is neither better than nor suggestively ahead of. Where one seed leaves
    that unknown, those that are behind by no more than what is negligible.
    """
    seconds = {run.name: run.seconds for run in runs}
    present = [one for one in entrants if one.name in seconds]
    if not present:
        return []
    behind = {pair.b for pair in pairs}
    best = next(one.name for one in present if one.name not in behind)
    against = {pair.b: pair for pair in pairs if pair.a == best}
    words = "; ".join(_related((name, pair.verdict) for name, pair in against.items()))
    advice = [Advice("quality", best, f"{best} has the best mean: it is {words or 'the only one'}.")]
    costs: dict[str, Mapping[str, float | None]] = {
        "time": seconds,
        "size": {one.name: one.parameters for one in present},
        "memory": {one.name: one.state_bytes.get(MEMORY_LENGTH) for one in present},
    }
    for lens, cost in costs.items():
        known = {name: amount for name, amount in cost.items() if amount is not None}
        if len(known) == len(present):
            advice.append(_economy(lens, known, best, against, metric))
    return advice


def _economy(lens: str, cost: Mapping[str, float], best: str, against: Mapping[str, Pair], metric: Metric) -> Advice:
    """The cheapest contender, and what the cheapest of all would save and give up."""
    called, saves = LENSES[lens]
    contenders = [best, *(name for name, pair in against.items() if _contends(pair, metric))]
    worth = [name for name in contenders if name == best or cost[name] < (1 - SAME) * cost[best]]
    chosen = min(worth, key=lambda name: cost[name])  # of equals the one with the better mean
    if chosen != best:
        words = f"{saves.format(chosen, _times(cost[chosen], cost[best]), best)} and "
        words += CONTENDING[against[chosen].verdict]
    elif len(contenders) > 1:
        words = f"{best} has the best mean and is {called} of those that may be as good"
    else:
        words = f"{best} has the best mean, and all others are behind it"
    cheapest = min([*contenders, *against], key=lambda name: cost[name])
    if cheapest != best and cost[cheapest] >= (1 - SAME) * cost[best]:
        words += "; no other model is noticeably cheaper"
    elif cheapest not in contenders:
        lost = _amount(against[cheapest].difference, None, None, metric)
        words += f"; {saves.format(cheapest, _times(cost[cheapest], cost[best]), best)} and gives up {lost}"
    elif len(contenders) == 1:
        words += f"; it is also {called}"
    return Advice(lens, chosen, f"{words}.")


def _contends(pair: Pair, metric: Metric) -> bool:
    return pair.verdict in (EQUAL, UNCLEAR) or (pair.verdict == AHEAD and pair.difference <= metric.negligible)


def _sums_by_name(entrants: Sequence[Entrant], runs: Sequence[RunResult]) -> dict[str, np.ndarray]:
    found = {one.name: [run.sums for run in runs if run.name == one.name] for one in entrants}
    return {name: np.array(sums, float) for name, sums in found.items() if sums}


def _judged(
    names: Iterable[tuple[str, str]],
    sums: Mapping[str, np.ndarray],
    metric: Metric,
    cost: Callable[[str, str], str],
) -> list[Pair]:
    found: list[tuple[str, str, Estimate]] = []
    for pair in names:
        a, b = sorted(pair, key=lambda name: level(sums[name], metric.value), reverse=not metric.lower_is_better)
        below, above = (a, b) if metric.lower_is_better else (b, a)
        found.append((a, b, estimate(sums[below], sums[above], metric.value)))
    tested = [one.p for _, _, one in found if one.p is not None]
    adjusted = iter(holm(tested))
    pairs = [_pair(a, b, one, None if one.p is None else next(adjusted), metric) for a, b, one in found]
    return [replace(pair, sentence=_sentence(pair, metric, cost(pair.a, pair.b), len(tested))) for pair in pairs]


def _pair(a: str, b: str, found: Estimate, adjusted: float | None, metric: Metric) -> Pair:
    needed = None
    if found.seed_variances is not None and found.v_text is not None:
        needed = seeds_needed(found.difference, found.seed_variances, found.v_text, found.units)
    return Pair(
        a=a,
        b=b,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p=found.p,
        adjusted_p=adjusted,
        df=found.df,
        v_seeds=found.v_seeds,
        v_text=found.v_text or 0.0,  # of one unit it is not known, and then there is no interval
        units=found.units,
        seeds_needed=needed,
        verdict=_verdict(found, adjusted, metric.negligible),
        sentence="",
    )


def _verdict(found: Estimate, adjusted: float | None, negligible: float) -> str:
    if found.low is None or found.high is None or adjusted is None:
        return AHEAD if found.difference else UNCLEAR
    if adjusted < LEVEL:
        return BETTER
    if found.low > 0:
        return SUGGESTIVE
    # the difference is not negative, so that low is no further from 0 than high
    return EQUAL if found.high <= negligible else UNCLEAR


def _sentence(pair: Pair, metric: Metric, cost: str, tested: int) -> str:
    by = _amount(pair.difference, pair.low, pair.high, metric) + cost
    if pair.low is None:
        lead = f"is {AHEAD} by {by}" if pair.difference else f"scores the same on this text{cost}"
        noise = "seed the noise of seeds" if pair.v_seeds is None else "unit of text the noise of text"
        return f"Against {pair.b}, {pair.a} {lead}; with one {noise} is unknown"
    if pair.verdict == BETTER:
        return f"{pair.a} is better than {pair.b} by {by}{_hardly(pair, metric)}"
    if pair.verdict == SUGGESTIVE:
        why = f"suggestive only, because {tested} pairs were judged (adjusted p = {pair.adjusted_p:.2g})"
        return f"{pair.a} is ahead of {pair.b} by {by}; {why}{_hardly(pair, metric)}"
    both = f"{pair.a} and {pair.b} are {pair.verdict}: {pair.a} is ahead by {by}"
    return both if pair.verdict == EQUAL else f"{both}; {_more(pair)}"


def _hardly(pair: Pair, metric: Metric) -> str:
    """A difference may be sure and yet too small to matter."""
    within = pair.high is not None and pair.high <= metric.negligible
    return f"; too little to matter in practice (below {metric.negligible:g})" if within else ""


def _more(pair: Pair) -> str:
    """What would show the difference."""
    if pair.seeds_needed is not None:
        return f"with {pair.seeds_needed:,} seeds such a difference would be shown at 80 % power"
    if not pair.difference:
        return "there is no difference to show"
    return "more seeds will not settle this; more test data could"


def _cost(a_seconds: float, b_seconds: float) -> str:
    if not (a_seconds > 0 and b_seconds > 0):
        return ""
    same = abs(a_seconds / b_seconds - 1) <= SAME
    return ", in the same time" if same else f", at {_times(a_seconds, b_seconds)} times the time"


def _times(amount: float, other: float) -> str:
    """Their ratio in two digits."""
    times = amount / other
    return f"{times:,.0f}" if times >= 10 else f"{times:.2g}"


def _amount(difference: float, low: float | None, high: float | None, metric: Metric) -> str:
    """Two or three decimals, and more where a number or half the interval would be printed as zero."""
    bounds = [] if low is None or high is None else [low, high]
    shown = [abs(number) for number in (difference, *bounds, (bounds[-1] - bounds[0]) / 2 if bounds else 0.0) if number]
    digits = min(6, max(min(3, metric.digits), -math.floor(math.log10(min(shown, default=1.0)))))
    written = [f"{round(number, digits) + 0.0:.{digits}f}" for number in (difference, *bounds)]
    interval = f" (95 % interval {' to '.join(written[1:])})" if bounds else ""
    return f"{written[0]} {metric.difference_unit}{interval}"


def _related(others: Iterable[tuple[str, str]]) -> list[str]:
    """For each verdict, the names that it holds against."""
    others = list(others)
    grouped = {words: [name for name, found in others if found == verdict] for verdict, words in RELATIONS.items()}
    return [words.format(_listed(names)) for words, names in grouped.items() if names]


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
