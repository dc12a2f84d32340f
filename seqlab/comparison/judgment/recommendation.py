"""From verdicts to a recommendation for each criterion: quality, time, size and memory."""

from collections.abc import Mapping, Sequence

from seqlab.comparison.judgment.verdicts import (
    AHEAD,
    BETTER,
    EQUAL,
    RELATIONS,
    SAME,
    SUGGESTIVE,
    UNCLEAR,
    amount,
    listed,
    times,
)
from seqlab.comparison.results import Advice, Entrant, Pair, RunResult
from seqlab.metrics.metric import Metric

MEMORY_LENGTH = "1000"  # context length at which memory is compared

# by verdict, in the bottom line: how the best relates to others, and how others relate to it
BEHIND = {
    BETTER: "it is better than {}",
    SUGGESTIVE: "it is probably better than {}",
    AHEAD: "it is ahead of {} on this data, where the noise is unknown",
}
AS_GOOD = {EQUAL: "{} as good for practical purposes", UNCLEAR: "may be as good"}
# by verdict: how a contender relates to the best
CONTENDING = {
    UNCLEAR: "is not distinguishable from it",
    EQUAL: "is equal to it for practical purposes",
    AHEAD: "is hardly behind it on this data",
}
# by criterion: how to call the cheapest, and how to compare it with another
LENSES = {
    "time": ("the fastest to train", "{} trains in {} of the time of {}"),
    "size": ("the smallest", "{} has {} of the total parameters of {}"),
    "bytes": ("the smallest", "{} takes {} of the bytes of {}"),  # of weights and counts, where one has counts
    "memory": ("the lightest when generating", "{} needs {} of the memory of {} when generating"),
}
LENS_NAMES = {
    "time": "if time matters",
    "size": "if size matters",
    "memory": "if memory matters",
    "counts": "with counts",
}


def recommendation(
    entrants: Sequence[Entrant], runs: Sequence[RunResult], metric: Metric, pairs: Sequence[Pair]
) -> list[Advice]:
    """Which entrant to choose for quality, and which contender for time, size and memory.

    Contenders are the best mean and every entrant that it is neither better than nor suggestively ahead of. With one
    seed, they are the entrants that are behind by a negligible difference at most.
    """
    seconds = {run.name: run.seconds for run in runs}
    scored = [entrant for entrant in entrants if entrant.name in seconds]
    if not scored:
        return []
    behind = {pair.b for pair in pairs}
    best = next(entrant.name for entrant in scored if entrant.name not in behind)
    against = {pair.b: pair for pair in pairs if pair.a == best}
    advice = [Advice("quality", best, _bottom_line(best, against))]
    if len(scored) == 1:
        return advice  # nothing is cheaper than the only model, nor behind it
    costs: dict[str, Mapping[str, float | None]] = {
        "time": seconds,
        "size": {entrant.name: entrant.parameters for entrant in scored},
        "memory": {entrant.name: entrant.state_bytes.get(MEMORY_LENGTH) for entrant in scored},
    }
    if any(map(_is_mixed, scored)):
        costs = {"time": costs["time"], "bytes": {entrant.name: entrant.file_bytes for entrant in scored}}
    for lens, cost in costs.items():
        known = {name: price for name, price in cost.items() if price is not None}
        if len(known) == len(scored):
            spread = {entrant.name: entrant.step_spread if lens == "time" else 0.0 for entrant in scored}
            advice.append(_economy(lens, known, spread, best, against, metric))
    return advice


def _is_mixed(entrant: Entrant) -> bool:
    return entrant.settings.get("task", {}).get("mix", "none") != "none"


def _bottom_line(best: str, against: Mapping[str, Pair]) -> str:
    """What to use and how sure that is, in one sentence."""
    names = {verdict: [name for name, pair in against.items() if pair.verdict == verdict] for verdict in RELATIONS}
    clauses = [words.format(listed(names[verdict])) for verdict, words in BEHIND.items() if names[verdict]]
    if against and not clauses:
        clauses.append("no other model is clearly better")
    for verdict, words in AS_GOOD.items():
        if names[verdict]:
            clauses.append(f"{listed(names[verdict])} {words.format('is' if len(names[verdict]) == 1 else 'are')}")
    return f"Use {best}: {'; '.join(clauses) or 'it is the only model'}."


def _economy(
    lens: str,
    cost: Mapping[str, float],
    spread: Mapping[str, float],
    best: str,
    against: Mapping[str, Pair],
    metric: Metric,
) -> Advice:
    """The cheapest contender, and what the cheapest entrant would save and give up, beyond the spread of the costs."""

    def is_cheaper(name: str) -> bool:
        return cost[name] < (1 - max(SAME, spread[name] + spread[best])) * cost[best]

    superlative, saves = LENSES[lens]
    contenders = [best]
    for name, pair in against.items():
        close = pair.verdict == AHEAD and pair.difference <= metric.negligible
        if pair.verdict in (EQUAL, UNCLEAR) or close:
            contenders.append(name)
    worth = [name for name in contenders if name == best or is_cheaper(name)]
    chosen = min(worth, key=lambda name: cost[name])  # at equal cost, the one with the better mean
    cheapest = min([*contenders, *against], key=lambda name: cost[name])
    unsure = {name for name in cost if cost[name] < (1 - SAME) * cost[best] and not is_cheaper(name)}
    if chosen != best:
        words = f"{saves.format(chosen, times(cost[chosen], cost[best]), best)} and "
        words += CONTENDING[against[chosen].verdict]
    elif len(contenders) > 1:
        is_least = cost[best] == min(cost[name] for name in contenders) and not unsure.intersection(contenders)
        words = f"{best} has the best mean{f' and is {superlative} of those that may be as good' * is_least}"
    else:
        words = f"{best} has the best mean, and all others are behind it"
    if cheapest != best and not is_cheaper(cheapest):
        words += "; no other model is noticeably cheaper"
        words += f": timings of {cheapest} and {best} vary too much" if cheapest in unsure else ""
    elif cheapest not in contenders:
        lost = amount(against[cheapest].difference, None, None, metric)
        words += f"; {saves.format(cheapest, times(cost[cheapest], cost[best]), best)} and gives up {lost}"
    elif len(contenders) == 1 and all(cost[name] > (1 + SAME) * cost[best] for name in against):
        words += f"; it is also {superlative}"
    elif len(contenders) == 1 and against:
        words += "; no other model is noticeably cheaper"
    return Advice("size" if lens == "bytes" else lens, chosen, f"{words}.")
