"""Merges comparisons that share text, scoring and budget into one, and judges all runs together.

If they differ, the error names the difference."""

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqlab.comparison.judgment.cautions import cautions
from seqlab.comparison.judgment.recommendation import recommendation
from seqlab.comparison.judgment.verdicts import judge_baseline, judge_pairs
from seqlab.comparison.plan.plan import difference
from seqlab.comparison.plan.request import BUDGETS, Amount, parse_amount
from seqlab.comparison.results import Best, Entrant, Ledger, Results, RunResult
from seqlab.errors import UsageError

WARNED = {
    "match": "their models were matched to different sizes",
    "tune": "they were not tuned equally",
    "tune_over": "they were not tuned over the same settings",
}


def merge(results: Sequence[Results], sources: Sequence[str]) -> Results:
    """One comparison of all entrants and runs; UsageError if they must not be merged."""
    first = results[0]
    for other, source in zip(results[1:], sources[1:], strict=True):
        _refuse_difference(first, other, sources[0], source)
    entrants = _entrants(results, sources)
    runs = _runs(results, sources)
    pairs = judge_pairs(entrants, runs, first.metric)
    baseline_pairs = judge_baseline(entrants, runs, first.baselines, first.metric)
    advice = recommendation(entrants, runs, first.metric, pairs)
    best = advice[0].name if advice else first.best.name
    best_run = min((run for run in runs if run.name == best), key=lambda run: run.validation)
    commands = [*(comparison.command for comparison in results), f"seqlab report {shlex.join(sources)} --out DIR"]
    return replace(
        first,
        command="\n".join(_distinct(commands)),
        plan=_merged_tables([comparison.plan for comparison in results]),
        entrants=entrants,
        runs=runs,
        pairs=pairs,
        baseline_pairs=baseline_pairs,
        recommendation=advice,
        best=Best(best_run.name, best_run.seed, best_run.path),
        trials=_first_by_name(comparison.trials for comparison in results),
        samples=_first_by_name(comparison.samples for comparison in results),
        memorization=_first_by_name(comparison.memorization for comparison in results),
        audits=_first_by_name(comparison.audits for comparison in results),
        distances=_first_by_name(comparison.distances for comparison in results),
        ledger=_ledger(results),
        warnings=_distinct(
            [*cautions(runs, pairs, baseline_pairs, best, first.examples), *_warnings(results, sources)]
        ),
        machine="; ".join(_distinct(comparison.machine for comparison in results)),
        versions=_merged_tables([comparison.versions for comparison in results]),
        date=max(comparison.date for comparison in results),
    )


def _refuse_difference(first: Results, other: Results, source: str, other_source: str) -> None:
    """UsageError that names the first fact in which two comparisons differ."""
    a, b = _shared_facts(first), _shared_facts(other)
    if first.corpus.get("fingerprint") != other.corpus.get("fingerprint"):  # the same text may have another name
        a, b = {"text": _text(first), **a}, {"text": _text(other), **b}
    for aspect in {**a, **b}:
        if not _same(a.get(aspect), b.get(aspect)):
            raise UsageError(
                f"'{source}' and '{other_source}' must not be merged: the {aspect} is {_shown(a.get(aspect))} in one "
                f"and {_shown(b.get(aspect))} in the other. Report on each separately."
            )


def _same(a: Any, b: Any) -> bool:
    return math.isclose(a, b, rel_tol=1e-6) if isinstance(a, float) and isinstance(b, float) else a == b


def _text(results: Results) -> str:
    return f"{results.corpus.get('name')} (SHA-256 {str(results.corpus.get('fingerprint'))[:12]})"


def _shared_facts(results: Results) -> dict[str, Any]:
    """What must be the same, by its name in messages."""
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
        "number of text units": max((len(run.sums) for run in results.runs), default=0),
        # different values mean that the text or its scoring is not the same
        **{f"value of {baseline.name}": baseline.value for baseline in results.baselines},
    }


def _budget(results: Results) -> str:
    """The requested budget; if only minutes were requested, the steps that were planned."""
    requested = results.plan.get("budget")
    if requested is not None:
        return str(parse_amount(str(requested), BUDGETS, "budget"))
    return " or ".join(str(Amount("steps", steps)) for steps in sorted({run.steps for run in results.runs}))


def _entrants(results: Sequence[Results], sources: Sequence[str]) -> list[Entrant]:
    """Every entrant once, with the costs measured first; UsageError if a name has different settings."""
    entrants: dict[str, tuple[Entrant, str]] = {}
    for comparison, source in zip(results, sources, strict=True):
        for entrant in comparison.entrants:
            earlier, earlier_source = entrants.setdefault(entrant.name, (entrant, source))
            changes = difference(earlier.settings, entrant.settings)
            if changes or earlier.arch != entrant.arch:
                shown = "; ".join(changes[:3]) or f"{earlier.arch} was {entrant.arch}"
                raise UsageError(
                    f"'{entrant.name}' is not the same model in '{earlier_source}' and '{source}': {shown}. "
                    f"Compare them under different names."
                )
    return [entrant for entrant, _ in entrants.values()]


def _runs(results: Sequence[Results], sources: Sequence[str]) -> list[RunResult]:
    """All runs, with their absolute paths."""
    origins: dict[tuple[str, int], str] = {}
    runs = []
    for comparison, source in zip(results, sources, strict=True):
        for run in comparison.runs:
            if earlier := origins.get((run.name, run.seed)):
                raise UsageError(
                    f"{run.name} with seed {run.seed} is in '{earlier}' and in '{source}': a run must not count twice. "
                    f"Report on one of them, or compare with other seeds."
                )
            origins[run.name, run.seed] = source
            runs.append(replace(run, path=(Path(source).absolute() / run.path).as_posix()))
    return runs


def _first_by_name(lists: Iterable[Sequence[Any]]) -> list[Any]:
    """The items of every entrant, from the first comparison that has some."""
    merged: list[Any] = []
    for items in lists:
        known = {item.name for item in merged}
        merged += [item for item in items if item.name not in known]
    return merged


def _ledger(results: Sequence[Results]) -> Ledger:
    """What was the same within one comparison may differ from the other."""
    values: dict[str, dict[str, str]] = {}  # by aspect, then by entrant
    for comparison in results:
        names = [entrant.name for entrant in comparison.entrants]
        shared = {aspect: dict.fromkeys(names, value) for aspect, value in comparison.ledger.equal.items()}
        for aspect, by_name in {**shared, **comparison.ledger.unequal}.items():
            known = values.setdefault(aspect, {})
            for name, value in by_name.items():
                known[name] = value if known.get(name, value) == value else f"{known[name]}; {value}"
    count = len({entrant.name for comparison in results for entrant in comparison.entrants})
    equal = {
        aspect: next(iter(by_name.values()))
        for aspect, by_name in values.items()
        if len(set(by_name.values())) == 1 and len(by_name) == count
    }
    return Ledger(equal, {aspect: by_name for aspect, by_name in values.items() if aspect not in equal})


def _warnings(results: Sequence[Results], sources: Sequence[str]) -> list[str]:
    """The warnings that do not follow from the runs, and what differs between the comparisons."""
    warnings = []
    for comparison in results:
        own = cautions(
            comparison.runs, comparison.pairs, comparison.baseline_pairs, comparison.best.name, comparison.examples
        )
        warnings += [text for text in comparison.warnings if text not in own]
    for key, consequence in WARNED.items():
        values = [comparison.plan.get(key) for comparison in results]
        if any(value != values[0] for value in values):
            each = ", ".join(f"{_shown(value)} in {source}" for value, source in zip(values, sources, strict=True))
            warnings.append(f"These are {len(results)} comparisons, and {consequence}: {each}.")
    if len({comparison.machine for comparison in results}) > 1:
        warnings.append("The comparisons ran on different machines: their seconds and speeds cannot be compared.")
    return warnings


def _merged_tables(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Lists and nested tables are merged; other values that differ are joined by a slash."""
    merged: dict[str, Any] = {}
    for key in dict.fromkeys(key for table in tables for key in table):
        values = _distinct(table[key] for table in tables if key in table)
        if len(values) == 1:
            merged[key] = values[0]
        elif all(isinstance(value, list) for value in values):
            merged[key] = _distinct(item for value in values for item in value)
        elif all(isinstance(value, dict) for value in values):
            merged[key] = _merged_tables(values)
        else:
            merged[key] = " / ".join(map(_shown, values))
    return merged


def _distinct(values: Iterable[Any]) -> list[Any]:
    distinct: list[Any] = []  # a set would need hashable values
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return distinct


def _shown(value: Any) -> str:
    return "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
