"""report.html: the values that the template shows. The page has no script and loads nothing."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from seqlab.comparison.judgment.recommendation import LENS_NAMES
from seqlab.comparison.judgment.verdicts import baseline_sentence
from seqlab.comparison.report.amounts import NO_VALUE, decimals
from seqlab.comparison.report.figures import forest_picture, lens_pictures, position_picture, rate_pictures
from seqlab.comparison.report.look_back import look_back_pictures, look_back_sentence
from seqlab.comparison.report.measures import MeasureSection
from seqlab.comparison.report.series import best_baseline, rate_grid
from seqlab.comparison.report.table import NO_TRAINING, Table, ranked, table, terms
from seqlab.comparison.results import HELD_OUT, Audited, Memorization, Results, Sample
from seqlab.measures.crossover import crossovers
from seqlab.metrics.descriptions import describe
from seqlab.metrics.metric import Metric
from seqlab.pages import page_environment, page_style, policy
from seqlab.plotting import COLORS

HERE = Path(__file__).parent
TEMPLATE, STYLE = "report.html.j2", "report.css"
PLAN_NAMES = {
    "archs": "entrants", "match": "made equal in", "tune": "trials of each", "tune_over": "tried", "jobs": "at a time",
    "threads": "threads of each run", "minutes": "minutes allowed", "estimate": "seconds planned",
    "horizon": "length of a trial", "negligible": "negligible difference",
}  # fmt: skip


def page(results: Results, measures: Sequence[MeasureSection] = (), looks: str = "") -> str:
    """The whole page; `looks` says what looked at the test split.

    The template escapes every string, matplotlib those in the pictures."""
    environment = page_environment(HERE)
    environment.filters |= {"decimals": decimals, "in_words": in_words}
    style = _style()
    return environment.get_template(TEMPLATE).render(
        style=style,
        policy=policy(style),
        r=results,
        measures=measures,
        looks=looks,
        colors=len(COLORS),
        is_text=results.examples is None,
        index={entrant.name: index for index, entrant in enumerate(results.entrants)},
        names=[entrant.name for entrant in ranked(results)],
        **_verdict(results),
        **_charts(results),
        **_cards(results),
        **_settings(results),
    )


def _style() -> str:
    colors = "".join(f".c{index}{{color:{color}}}" for index, color in enumerate(COLORS))
    return page_style((HERE / STYLE).read_text(encoding="utf-8"), colors, "\n")


def _verdict(results: Results) -> dict[str, Any]:
    headline = next((advice for advice in results.recommendation if advice.lens == "quality"), None)
    others = [advice for advice in results.recommendation if advice is not headline]
    return {
        "headline": headline,
        "lenses": [(LENS_NAMES.get(advice.lens, advice.lens), advice) for advice in others],
        "against_baseline": baseline_sentence(results.baseline_pairs, results.baselines, results.metric),
        "forest": forest_picture(results) if results.pairs else None,
    }


def _charts(results: Results) -> dict[str, Any]:
    grids = [grid for entrant in ranked(results) if (grid := rate_grid(results, entrant))]
    seconds = {
        entrant.name: {int(length): 1 / rate for length, rate in entrant.generation.items()}
        for entrant in results.entrants
    }
    return {
        "table": _grouped(table(results)),
        "crossovers": crossovers(seconds),
        "terms": terms(results),
        "no_training": NO_TRAINING,
        "baseline": best_baseline(results),
        "baseline_metrics": _baseline_metrics(results),
        "panels": lens_pictures(results),
        "position": position_picture(results),
        "look_back": look_back_pictures(results),
        "look_back_sentence": look_back_sentence(results) if results.distances else "",
        "rates": list(zip(grids, rate_pictures(grids), strict=True)),
        "trials": list(_trial_tables(results, {grid.name for grid in grids})),
    }


def _baseline_metrics(results: Results) -> list[Metric]:
    """The metrics of the baselines, without the one that compares models."""
    keys = dict.fromkeys(key for baseline in results.baselines for key in baseline.metrics)
    metrics = [describe(key, results.reported_metrics) for key in keys if key != results.metric.key]
    return [metric for metric in metrics if not metric.is_count]


def _grouped(ungrouped: Table) -> dict[str, Any]:
    """The table with its columns in groups, the first of each group marked."""
    groups = [(name, list(columns)) for name, columns in groupby(ungrouped.columns, key=lambda column: column.group)]
    return {
        "groups": [(name, len(columns)) for name, columns in groups],
        "columns": [(column, column is columns[0]) for _, columns in groups for column in columns],
        "rows": ungrouped.rows,
    }


def _trial_tables(results: Results, plotted: set[str]) -> Iterator[dict[str, Any]]:
    """The trials of entrants without a chart: a column for each setting that was tried."""
    for name in dict.fromkeys(trial.name for trial in results.trials if trial.name not in plotted):
        trials = [trial for trial in results.trials if trial.name == name]
        keys = list(dict.fromkeys(key for trial in trials for key in trial.tried))
        rows = [([in_words(trial.tried.get(key)) for key in keys], trial.loss, trial.chosen) for trial in trials]
        yield {"name": name, "keys": keys, "rows": rows}


def _cards(results: Results) -> dict[str, Any]:
    """Samples, memorization and audits, best entrant first as in the table."""
    places = {entrant.name: place for place, entrant in enumerate(ranked(results))}

    def place(shown: Sample | Memorization | Audited) -> int:
        return places.get(shown.name, len(places))

    samples: dict[tuple[str, float], list[Sample]] = {}
    for sample in sorted(results.samples, key=place):
        samples.setdefault((sample.prompt, sample.temperature), []).append(sample)
    checks = [check for audited in results.audits for check in audited.checks]
    return {
        "samples": samples,
        "memorized": sorted(results.memorization, key=place),
        "held_out": HELD_OUT,
        "checks": list(dict.fromkeys(check.name for check in checks)),
        "audits": [
            (audited.name, {check.name: check for check in audited.checks})
            for audited in sorted(results.audits, key=place)
        ],
        "failures": sum(check.failed for check in checks),
        "applied": sum(check.passed is not None for check in checks),
    }


def _settings(results: Results) -> dict[str, Any]:
    """Settings by dotted name: those that differ by entrant, the others once."""
    by_key: dict[str, dict[str, str]] = {}
    for entrant in results.entrants:
        for section, values in entrant.settings.items():
            for key, value in values.items():
                by_key.setdefault(f"{section}.{key}", {})[entrant.name] = in_words(value)
    everywhere = {key: values for key, values in by_key.items() if len(values) == len(results.entrants)}
    shared = {key: next(iter(values.values())) for key, values in everywhere.items() if len(set(values.values())) == 1}
    return {
        "differing": {key: values for key, values in by_key.items() if key not in shared},
        "shared": shared,
        "facts": {
            title: {PLAN_NAMES.get(key, key).replace("_", " "): in_words(value) for key, value in values.items()}
            for title, values in (("Text", results.corpus), ("Scoring", results.protocol), ("Plan", results.plan))
        },
    }


def in_words(value: Any) -> str:
    """A value of a free table as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: NO_VALUE}[value]
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {in_words(item)}" for key, item in value.items())
    return ", ".join(map(in_words, value)) if isinstance(value, list | tuple) else str(value)
