"""results.md: one screen for each study, written from the records alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from seqlab.comparison.judgment.statistics import level_interval
from seqlab.comparison.records.fields import template_fields
from seqlab.comparison.records.pictures import draw_pictures, link
from seqlab.comparison.records.record import add_record, read_records
from seqlab.comparison.records.study import Study, study_page
from seqlab.comparison.report.amounts import decimals
from seqlab.comparison.results import MeasureResult, Results, read_comparison
from seqlab.recipes import Findings, find_recipe, recipes
from seqlab.runs.directory import folder_name
from seqlab.storage import read_bytes, write_atomic

HEAD = """# Results

One section for each study: the question, the answer, how sure it is, and whether the claim of the original holds. The
linked pages hold the tables, samples and further figures. `seqlab results` writes all pages from the records in
[results/]({records}); `seqlab compare --recipe NAME` repeats a study, and `seqlab results --add FOLDER` records it.
Verdicts are on the test split; studies that split their text 90/10 have none, and their verdicts are on validation.
"""


def write_pages(records_folder: Path, out: Path) -> list[Path]:
    """results.md and results/NAME.md in the folder `out`."""
    records = read_records(records_folder)
    known = {name: find_recipe(name) for name in records if name in recipes()}
    page, folder = out / "results.md", out / "results"
    parts = [HEAD.format(records=link(records_folder, page))]
    written = [page]
    for name, results in records.items():
        fields, pictures = template_fields(name, records, known), draw_pictures(name, results, folder)
        study = Study(name, results, known.get(name), fields, pictures)
        parts.append(_section(study, page))
        written.append(folder / f"{name}.md")
        write_atomic(written[-1], study_page(study, written[-1]).encode())
    write_atomic(page, "\n".join(parts).encode())
    return written


def record_comparison(comparison: Path, records_folder: Path, out: Path) -> Path:
    """Record a finished comparison under the name of its recipe, and keep the pictures of its measures."""
    results = read_comparison(comparison)
    name = folder_name(str(results.plan.get("recipe") or comparison.name))
    folder = out / "results"
    folder.mkdir(parents=True, exist_ok=True)

    def with_copied_figures(measure: MeasureResult, owner: str = "") -> MeasureResult:
        names = []
        for figure in measure.figures:
            names.append("-".join(part for part in (name, owner, Path(figure).name) if part))
            write_atomic(folder / names[-1], read_bytes(comparison / figure))
        return replace(measure, figures=names)

    runs = []
    for run in results.runs:
        owner = f"{run.name}-{run.seed}"
        measures = {key: with_copied_figures(measure, owner) for key, measure in run.measures.items()}
        runs.append(replace(run, measures=measures))
    shows = {key: with_copied_figures(show) for key, show in results.shows.items()}
    return add_record(records_folder, name, replace(results, runs=runs, shows=shows))


def _section(study: Study, page: Path) -> str:
    name, recipe, results = study.name, study.recipe, study.results
    findings = recipe.findings if recipe and recipe.findings.question else _default_findings(results)
    named = [path for key, path in study.pictures.items() if f"-{key}".endswith(f"-{findings.figure}")]
    command = f"seqlab compare --recipe {name}" if recipe else results.command
    picture = next(iter([*named, *study.pictures.values()]), None)
    lines = [
        f"## {name}",
        f"**{study.fill(findings.question)}**",
        study.fill(findings.answer),
        _interval_sentence(results),
        f"![{findings.figure} of {name}]({link(picture, page)})" if picture else "",
        f"*Claimed:* {study.fill(findings.claim)}" if findings.claim else "",
        f"*Does it hold?* {study.fill(findings.holds)}" if findings.holds else "",
        f"`{command}` · [tables and samples](results/{name}.md)",
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def _default_findings(results: Results) -> Findings:
    """For a comparison without a recipe."""
    names = [entrant.name for entrant in results.entrants]
    listed = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)
    answer = next((advice.sentence for advice in results.recommendation if advice.lens == "quality"), "")
    escaped = answer.replace("{", "{{").replace("}", "}}")
    question = f"Which is best on {results.corpus.get('name', 'this text')}: {listed}?"
    return Findings(question, escaped, figure="pairs")


def _interval_sentence(results: Results) -> str:
    """The intervals of the pairs with the best entrant, or of a single entrant's score."""
    best = results.best.name
    sure = [pair for pair in results.pairs if pair.low is not None and best in (pair.a, pair.b)]
    digits = min(3, results.metric.digits)
    if sure:
        clauses = [
            f"{pair.a} is ahead of {pair.b} by {decimals(pair.difference, digits)} "
            f"({decimals(pair.low, digits)} to {decimals(pair.high, digits)}, {pair.verdict})"
            for pair in sure
        ]
        return f"95% intervals in {results.metric.difference_unit}, for fresh seeds and data: {'; '.join(clauses)}."
    if not results.runs:
        return "Computed, not trained: there is no interval."
    metric = results.metric
    interval = level_interval(np.array([run.sums for run in results.runs_of(best)]), metric.value, metric.unit_span)
    if interval:
        low, high = (decimals(end, metric.digits) for end in metric.possible(interval))
        return f"95% interval of {best} for fresh seeds and fresh data: {low} to {high} {metric.difference_unit}."
    if len(results.entrants) == 1:
        return "One seed: there is no interval."
    return "One seed of each model: there is no interval, and small differences may be the seed's."
