"""report.html: what the template shows, taken from results. No script is in it, and nothing is loaded."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from seqlab.comparison.judgment.verdicts import baseline_sentence
from seqlab.comparison.report.amounts import decimals, short, whole
from seqlab.comparison.report.charts import Forest, Grid, color, grids, panel_charts, rate_charts, swatch
from seqlab.comparison.report.measures import MeasureSection
from seqlab.comparison.report.series import DARK, LIGHT, best_baseline, lenses, positions
from seqlab.comparison.report.table import NO_TRAINING, Table, ranked, table, terms
from seqlab.comparison.results import HELD_OUT, Results, Sample
from seqlab.measures.crossover import crossovers
from seqlab.metrics.descriptions import describe
from seqlab.metrics.metric import Metric

HERE = Path(__file__).parent
TEMPLATE, STYLE = "report.html.j2", "report.css"
# what each recommendation is for
LENS_NAMES = {"time": "if time matters", "size": "if size matters", "memory": "if memory matters"}
PLAN_NAMES = {
    "archs": "entrants", "match": "made equal in", "tune": "trials of each", "tune_over": "tried", "jobs": "at a time",
    "threads": "threads of each run", "minutes": "minutes allowed", "estimate": "seconds planned",
    "horizon": "length of a trial", "negligible": "negligible difference",
}  # fmt: skip


def page(results: Results, measures: Sequence[MeasureSection] = ()) -> str:
    """The whole page. Every string is escaped by the template or by the charts."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"whole": whole, "short": short, "decimals": decimals, "said": said}
    environment.globals |= {"swatch": swatch, "color": color}
    style = _style()
    return environment.get_template(TEMPLATE).render(
        style=style,
        policy=_policy(style),
        r=results,
        measures=measures,
        is_text="examples" not in results.protocol,
        index={entrant.name: index for index, entrant in enumerate(results.entrants)},
        names=[entrant.name for entrant in ranked(results)],
        **_verdict(results),
        **_charts(results),
        **_cards(results),
        **_settings(results),
    )


def _style() -> str:
    def rules(colors: tuple[str, ...]) -> str:
        return ":root{" + "".join(f"--c{index}:{color};" for index, color in enumerate(colors)) + "}"

    used = "".join(f".c{index}{{--c:var(--c{index})}}" for index in range(len(LIGHT)))
    dark = f"@media screen and (prefers-color-scheme:dark){{{rules(DARK)}}}"
    return f"{(HERE / STYLE).read_text(encoding='utf-8')}{rules(LIGHT)}{dark}{used}\n"


def _policy(style: str) -> str:
    """Nothing may be loaded or run, except the style with this hash and pictures inside the page."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _verdict(results: Results) -> dict[str, Any]:
    headline = next((one for one in results.recommendation if one.lens == "quality"), None)
    forest = Forest.of(results.pairs, results.metric.negligible)
    return {
        "headline": headline,
        "lenses": [(LENS_NAMES.get(one.lens, one.lens), one) for one in results.recommendation if one is not headline],
        "against_baseline": baseline_sentence(results.baseline_pairs, results.baselines, results.metric),
        "pairs": [(pair, forest.row(pair), _p_value(pair.adjusted_p)) for pair in results.pairs],
        "scale": forest.axis(results.metric.difference_unit),
    }


def _p_value(p: float | None) -> str:
    return "" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _charts(results: Results) -> dict[str, Any]:
    by_position, found = positions(results), grids(results)
    baseline = best_baseline(results)
    panels = lenses(results)
    order = [entrant.name for entrant in ranked(results)]
    plotted = sorted((grid for grid in found if grid.of_rates), key=lambda grid: order.index(grid.name))
    return {
        "table": _grouped(table(results)),
        "crossovers": crossovers(
            {one.name: {int(at): 1 / rate for at, rate in one.generation.items()} for one in results.entrants}
        ),
        "terms": terms(results),
        "no_training": NO_TRAINING,
        "baseline": baseline,
        "baseline_metrics": _baseline_metrics(results),
        "panels": panel_charts(panels, "Loss on validation", baseline),
        "position": panel_charts([by_position], "Loss")[0] if by_position else None,
        "rates": list(zip(plotted, rate_charts(plotted), strict=True)),
        "trials": [_trial_table(grid) for grid in found if not grid.of_rates],
    }


def _baseline_metrics(results: Results) -> list[Metric]:
    """All metrics of the baselines but the one that models are compared by."""
    keys = dict.fromkeys(key for baseline in results.baselines for key in baseline.metrics)
    metrics = [describe(key, results.reported_metrics) for key in keys if key != results.metric.key]
    return [metric for metric in metrics if not metric.is_count]


def _grouped(made: Table) -> dict[str, Any]:
    """With the columns under the names of their groups, and the first of each group marked."""
    groups: list[list[Any]] = []
    firsts = []
    for column in made.columns:
        firsts.append(not groups or groups[-1][0] != column.group)
        if firsts[-1]:
            groups.append([column.group, 0])
        groups[-1][1] += 1
    return {"groups": groups, "columns": list(zip(made.columns, firsts, strict=True)), "rows": made.rows}


def _trial_table(grid: Grid) -> dict[str, Any]:
    keys = list(dict.fromkeys(key for trial in grid.trials for key in trial.tried))
    rows = [([said(trial.tried.get(key)) for key in keys], trial.loss, trial.chosen) for trial in grid.trials]
    return {"name": grid.name, "index": grid.index, "keys": keys, "rows": rows}


def _cards(results: Results) -> dict[str, Any]:
    place = {entrant.name: index for index, entrant in enumerate(ranked(results))}  # best first, as in the table
    groups: dict[tuple[str, float], list[Sample]] = {}
    for sample in sorted(results.samples, key=lambda one: place.get(one.name, len(place))):
        groups.setdefault((sample.prompt, sample.temperature), []).append(sample)
    checks = list(dict.fromkeys(check.name for audited in results.audits for check in audited.checks))
    audits = sorted(results.audits, key=lambda one: place.get(one.name, len(place)))
    found = [(one.name, {check.name: check for check in one.checks}) for one in audits]
    return {
        "samples": groups,
        "memorized": sorted(results.memorization, key=lambda one: place.get(one.name, len(place))),
        "held_out": HELD_OUT,
        "checks": checks,
        "audits": found,
        "failures": sum(not check.passed for _, by_name in found for check in by_name.values()),
        "implementations": {entrant.name: entrant.implementation for entrant in results.entrants},
    }


def _settings(results: Results) -> dict[str, Any]:
    """Settings as dotted names: those that differ between entrants by entrant, the others once."""
    flat = {entrant.name: _flat(entrant.settings) for entrant in results.entrants}
    keys = list(dict.fromkeys(key for settings in flat.values() for key in settings))
    by_key = {key: {name: settings.get(key, "–") for name, settings in flat.items()} for key in keys}
    return {
        "differing": {key: values for key, values in by_key.items() if len(set(values.values())) > 1},
        "shared": {key: next(iter(v.values())) for key, v in by_key.items() if len(set(v.values())) == 1},
        "facts": {
            title: {PLAN_NAMES.get(key, key).replace("_", " "): said(value) for key, value in values.items()}
            for title, values in (("Text", results.corpus), ("Scoring", results.protocol), ("Plan", results.plan))
        },
    }


def _flat(settings: dict[str, Any], above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            found |= _flat(value, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = said(value)
    return found


def said(value: Any) -> str:
    """A value of a free table, in words."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {said(one)}" for key, one in value.items())
    return ", ".join(map(said, value)) if isinstance(value, list | tuple) else str(value)
