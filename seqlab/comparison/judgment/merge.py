"""Several comparisons as one, where they may be mixed: the same text, scored in the same way, on the same budget.

What differs is refused by name. What the numbers say is worked out anew from all runs together."""

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqlab.comparison.judgment.verdicts import judge_baseline, judge_pairs, recommendation, seed_warnings
from seqlab.comparison.plan.plan import difference
from seqlab.comparison.plan.request import BUDGETS, Amount, amount
from seqlab.comparison.results import Best, Entrant, Ledger, Results, RunResult
from seqlab.errors import UsageError

WARNED = {
    "match": "their models were made equal in different things",
    "tune": "they were not tuned equally",
    "tune_over": "they were not tuned over the same settings",
}


def merge(results: Sequence[Results], sources: Sequence[str]) -> Results:
    """One comparison of all entrants and runs; UsageError where they must not be mixed."""
    _refuse_mixture(results, sources)
    first = results[0]
    entrants = _entrants(results, sources)
    runs = _runs(results, sources)
    pairs = judge_pairs(entrants, runs, first.metric)
    advice = recommendation(entrants, runs, first.metric, pairs)
    return replace(
        first,
        command="\n".join(_distinct([*(one.command for one in results), _command(sources)])),
        plan=_tables([one.plan for one in results]),
        entrants=entrants,
        runs=runs,
        pairs=pairs,
        baseline_pairs=judge_baseline(entrants, runs, first.baselines, first.metric),
        recommendation=advice,
        best=_best(advice[0].name if advice else first.best.name, runs),
        trials=_of_first(results, "trials"),
        samples=_of_first(results, "samples"),
        memorization=_of_first(results, "memorization"),
        audits=_of_first(results, "audits"),
        ledger=_ledger(results),
        warnings=_warnings(results, sources, runs),
        machine="; ".join(_distinct(one.machine for one in results)),
        versions=_tables([one.versions for one in results]),
        date=max(one.date for one in results),
    )


def _command(sources: Sequence[str]) -> str:
    return f"seqlab report {shlex.join(sources)} --out DIR"


def _refuse_mixture(results: Sequence[Results], sources: Sequence[str]) -> None:
    one, first = results[0], sources[0]
    for other, source in zip(results[1:], sources[1:], strict=True):
        if one.corpus.get("fingerprint") != other.corpus.get("fingerprint"):
            raise UsageError(
                f"'{first}' and '{source}' must not be mixed: one is on {_text(one)}, the other on {_text(other)}. "
                f"Report on each by itself."
            )
        a, b = _facts(one), _facts(other)
        for what in {**a, **b}:
            if a.get(what) != b.get(what):
                raise UsageError(
                    f"'{first}' and '{source}' must not be mixed: the {what} is {_shown(a.get(what))} in one and "
                    f"{_shown(b.get(what))} in the other. Report on each by itself."
                )
        _refuse_floors(one, other, first, source)


def _text(results: Results) -> str:
    return f"{results.corpus.get('name')} (SHA-256 {str(results.corpus.get('fingerprint'))[:12]})"


def _facts(results: Results) -> dict[str, Any]:
    """What must be the same, by what it is called."""
    corpus, budget = results.corpus, _budget(results)
    return {
        "split": corpus.get("split"),
        "documents": corpus.get("documents"),
        **results.protocol,
        "metric": results.metric.key,
        "negligible difference": results.metric.negligible,
        "budget": budget,
        # a second is worth more on a faster machine
        "machine (for a budget in seconds)": results.machine if budget.startswith("seconds") else None,
        "units of text": max((len(run.sums) for run in results.runs), default=0),
    }


def _budget(results: Results) -> str:
    """As asked for; where it was left to the minutes, what came of that."""
    asked = results.plan.get("budget")
    if asked is not None:
        return str(amount(str(asked), BUDGETS, "budget"))
    return " or ".join(str(Amount("steps", steps)) for steps in sorted({run.steps for run in results.runs}))


def _refuse_floors(one: Results, other: Results, source: str, against: str) -> None:
    a, b = ({baseline.name: baseline.value for baseline in results.baselines} for results in (one, other))
    for name in {**a, **b}:
        if name not in a or name not in b or not math.isclose(a[name], b[name], rel_tol=1e-6):
            raise UsageError(
                f"'{source}' and '{against}' must not be mixed: {name} reaches {_shown(a.get(name))} in one and "
                f"{_shown(b.get(name))} in the other, so that the text or its scoring is not the same."
            )


def _entrants(results: Sequence[Results], sources: Sequence[str]) -> list[Entrant]:
    """All of them once. The same name must stand for the same settings; its costs are those measured first."""
    found: dict[str, tuple[Entrant, str]] = {}
    for one, source in zip(results, sources, strict=True):
        for entrant in one.entrants:
            before, earlier = found.setdefault(entrant.name, (entrant, source))
            differing = difference(before.settings, entrant.settings)
            if differing or before.arch != entrant.arch:
                shown = "; ".join(differing[:3]) or f"{before.arch} was {entrant.arch}"
                raise UsageError(
                    f"'{entrant.name}' is not the same model in '{earlier}' and '{source}': {shown}. "
                    f"Compare them under different names."
                )
    return [entrant for entrant, _ in found.values()]


def _runs(results: Sequence[Results], sources: Sequence[str]) -> list[RunResult]:
    """All of them, with the places where they lie now."""
    found: dict[tuple[str, int], str] = {}
    runs = []
    for one, source in zip(results, sources, strict=True):
        for run in one.runs:
            if earlier := found.get((run.name, run.seed)):
                raise UsageError(
                    f"{run.name} with seed {run.seed} is in '{earlier}' and in '{source}': a run must not count twice. "
                    f"Report on one of them, or compare with other seeds."
                )
            found[run.name, run.seed] = source
            runs.append(replace(run, path=(Path(source).absolute() / run.path).as_posix()))
    return runs


def _best(name: str, runs: Sequence[RunResult]) -> Best:
    """Of the recommended entrant, the seed with the lowest loss on validation."""
    run = min((run for run in runs if run.name == name), key=lambda run: run.validation)
    return Best(run.name, run.seed, run.path)


def _of_first(results: Sequence[Results], what: str) -> Any:
    """What is told of each entrant once: by the first comparison that has it."""
    found, told = [], set()
    for one in results:
        items = getattr(one, what)
        found += [item for item in items if item.name not in told]
        told |= {item.name for item in items}
    return found


def _ledger(results: Sequence[Results]) -> Ledger:
    """What was the same for all of one comparison may differ from the other."""
    names = [entrant.name for one in results for entrant in one.entrants]
    told: dict[str, dict[str, list[str]]] = {}
    for one in results:
        for what in (*one.ledger.equal, *one.ledger.unequal):
            of_all = dict.fromkeys((entrant.name for entrant in one.entrants), one.ledger.equal.get(what))
            for name, value in (one.ledger.unequal.get(what) or of_all).items():
                told.setdefault(what, {}).setdefault(name, []).append(value or "–")
    values = {what: {name: "; ".join(_distinct(said)) for name, said in by.items()} for what, by in told.items()}
    equal = {
        what: next(iter(by.values()))
        for what, by in values.items()
        if len(set(by.values())) == 1 and set(by) == set(names)
    }
    return Ledger(equal, {what: by for what, by in values.items() if what not in equal})


def _warnings(results: Sequence[Results], sources: Sequence[str], runs: Sequence[RunResult]) -> list[str]:
    """All that were given, those about seeds for all runs together, and what is not equal between the comparisons."""
    found = [text for one in results for text in one.warnings if text not in seed_warnings(one.runs)]
    for key, consequence in WARNED.items():
        given = [one.plan.get(key) for one in results]
        if any(value != given[0] for value in given):
            each = ", ".join(f"{_shown(value)} in {source}" for value, source in zip(given, sources, strict=True))
            found.append(f"These are {len(results)} comparisons, and {consequence}: {each}.")
    if len(_distinct(one.machine for one in results)) > 1:
        found.append("The comparisons ran on different machines: their seconds and their speeds cannot be compared.")
    return _distinct([*found, *seed_warnings(runs)])


def _tables(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """United: lists and tables together, other values that differ side by side."""
    merged: dict[str, Any] = {}
    for key in dict.fromkeys(key for table in tables for key in table):
        values = _distinct(table[key] for table in tables if key in table)
        if len(values) == 1:
            merged[key] = values[0]
        elif all(isinstance(value, list) for value in values):
            merged[key] = _distinct(item for value in values for item in value)
        elif all(isinstance(value, dict) for value in values):
            merged[key] = _tables(values)
        else:
            merged[key] = " / ".join(map(_shown, values))
    return merged


def _distinct(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _shown(value: Any) -> str:
    return "not there" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
