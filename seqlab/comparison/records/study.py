"""results/NAME.md: the tables, figures, measures and samples of one study."""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seqlab.comparison.judgment.collect import spread
from seqlab.comparison.records.fields import fill
from seqlab.comparison.records.pictures import link
from seqlab.comparison.report.table import markdown_rows, table
from seqlab.comparison.results import Entrant, MeasureResult, Results, RunResult
from seqlab.errors import UsageError
from seqlab.recipes import Recipe

MOST_STEPS = 12  # rows of the table of losses by step
# what a study published about a model: its name there, and our value
PUBLISHED: dict[str, Callable[[Entrant, RunResult], str]] = {
    "parameters": lambda entrant, run: f"{entrant.parameters:,}",
    "of them embedding": lambda entrant, run: f"{entrant.embedding_parameters:,}",
    "core": lambda entrant, run: f"{entrant.core_parameters:,}",
    "output": lambda entrant, run: f"{entrant.output_parameters:,}",
    "perplexity": lambda entrant, run: f"{run.metrics['perplexity']:.2f}",
    "bits per character": lambda entrant, run: f"{run.metrics['bits_per_char']:.3f}",
    "a token alone, ms": lambda entrant, run: f"{run.measures['speed'].data['alone_ms']:.2f}",
    "a process that generates, MB": lambda entrant, run: f"{run.measures['memory'].data['process'] / 1e6:.0f}",
}


def study_page(
    name: str,
    results: Results,
    recipe: Recipe | None,
    fields: Mapping[str, object],
    pictures: Mapping[str, Path],
    page: Path,
) -> str:
    """The whole page."""
    about = recipe.about if recipe else f"a comparison on {results.corpus.get('name', 'a text')}"
    parts = [f"# {name}\n\n{about[0].upper()}{about[1:]}. [All results](../results.md)\n"]
    if results.entrants:
        split = results.protocol.get("scored_split")
        parts += [
            f"## Table\n\nOn the {split} split of {results.corpus.get('name')}:\n",
            markdown_rows(table(results)) + "\n",
        ]
        parts += [_verdicts(results), _published(results, recipe), _epochs(results, recipe), _by_step(results)]
    parts += [_notes(name, recipe, fields)]
    drawn = [
        f"![{key} of {name}]({link(path, page)})\n"
        for key, path in pictures.items()
        if key in ("curves", "pairs", "by-length")
    ]
    parts += ["## Figures\n", *drawn] if drawn else []
    parts += [*_measures(results, page), *_samples(results), _origin(results)]
    return "\n".join(part for part in parts if part)


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _verdicts(results: Results) -> str:
    sentences = [pair.sentence for pair in results.pairs] + [pair.sentence for pair in results.baseline_pairs]
    listed = "\n".join(f"- {sentence}" for sentence in [*sentences, *results.warnings])
    return f"## Verdicts\n\n{listed}\n" if listed else ""


def _published(results: Results, recipe: Recipe | None) -> str:
    """Our numbers beside those that the study printed."""
    rows = []
    for entrant in results.entrants:
        said = (recipe.reference if recipe else {}).get(entrant.name, {}).get("said", {})
        run = results.runs_of(entrant.name)[0]
        rows += [[entrant.name, aspect, PUBLISHED[aspect](entrant, run), text] for aspect, text in said.items()]
    return f"## Beside the study\n\n{markdown_table(['model', 'aspect', 'here', 'study'], rows)}" if rows else ""


def _epochs(results: Results, recipe: Recipe | None) -> str:
    """The study's losses beside ours, evaluation by evaluation."""
    parts = []
    for entrant in results.entrants:
        theirs = (recipe.reference if recipe else {}).get(entrant.name, {})
        curve = results.runs_of(entrant.name)[0].curve
        if len(theirs.get("validation", ())) != len(curve):
            continue
        rows = [
            [str(epoch), f"{ours['train_loss']:.4f}", f"{train:.4f}", f"{ours['validation_loss']:.4f}",
             f"{validation:.4f}", f"{math.exp(ours['validation_loss']):.2f}", f"{perplexity:.2f}"]
            for epoch, (ours, train, validation, perplexity) in enumerate(
                zip(curve, theirs["train"], theirs["validation"], theirs["perplexity"], strict=True), 1
            )
        ]  # fmt: skip
        heads = ["epoch", "training loss", "study", "validation loss", "study", "perplexity", "study"]
        parts.append(f"### {entrant.name}, epoch by epoch, beside the study\n\n{markdown_table(heads, rows)}")
    return "\n".join(parts)


def _by_step(results: Results) -> str:
    """Validation losses at the steps that several runs share."""
    losses = [{point["step"]: point["validation_loss"] for point in run.curve} for run in results.runs]
    steps = {step for curve in losses for step in curve}
    shared = sorted(step for step in steps if sum(step in curve for curve in losses) > 1)
    if len(losses) < 2 or not shared:
        return ""
    rows = [
        [f"{step:,.0f}", *(f"{curve[step]:.4f}" if step in curve else "–" for curve in losses)]
        for step in spread(shared, MOST_STEPS)
    ]
    return f"## Validation loss by step\n\n{markdown_table(['step', *map(_title, results.runs)], rows)}"


def _notes(name: str, recipe: Recipe | None, fields: Mapping[str, object]) -> str:
    """The recipe's notes; a note on a model without a record is left out."""
    notes = []
    for note in recipe.findings.notes if recipe else ():
        try:
            notes.append(f"- {fill(note, fields, name)}")
        except UsageError as error:
            if not isinstance(error.__context__, KeyError | AttributeError):
                raise
    return "## Notes\n\n" + "\n".join(notes) + "\n" if notes else ""


def _measures(results: Results, page: Path) -> Iterator[str]:
    """Shows are open; what was measured on runs is folded, for there is much of it."""
    if results.shows or any(run.measures for run in results.runs):
        yield "## Measures\n"
    for name, measure in results.shows.items():
        yield f"### {name}\n\n{_content(measure, page)}"
    for run in results.runs:
        for name, measure in run.measures.items():
            yield _folded(f"{_title(run)}: {name}", _content(measure, page))


def _content(measure: MeasureResult, page: Path) -> str:
    text = f"Not measured: {measure.failure}" if measure.failure else measure.text
    kept = [page.parent / Path(figure).name for figure in measure.figures]
    pictures = "".join(f"![{path.stem}]({link(path, page)})\n\n" for path in kept if path.is_file())
    return f"~~~text\n{text}\n~~~\n\n{pictures}"


def _samples(results: Results) -> Iterator[str]:
    """Texts generated during training, and after it."""
    for run in results.runs:
        if run.samples:
            texts = "\n\n".join(f"--- step {one['step']} ---\n{one['text']}" for one in run.samples)
            yield _folded(f"{_title(run)}: generated during training", f"~~~text\n{texts}\n~~~\n\n")
    for sample in results.samples:
        text = f"~~~text\n{sample.prompt}{sample.text}\n~~~\n\n"
        yield _folded(f"{sample.name}, seed {sample.seed}: a sample at temperature {sample.temperature:g}", text)


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{content}</details>\n"


def _origin(results: Results) -> str:
    facts: dict[str, Any] = {
        "Command": f"`{results.command}`",
        "Commit": f"`{results.commit[:12]}`" if results.commit else None,
        "Date": results.date[:10],
        "Machine": results.machine,
        "Versions": ", ".join(f"{name} {version}" for name, version in results.versions.items()),
        "Seeds": ", ".join(str(seed) for seed in sorted({run.seed for run in results.runs})),
    }
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)
    return f"## Origin\n\n{listed}\n"


def _title(run: RunResult) -> str:
    return run.name if run.seed == 0 else f"{run.name}, seed {run.seed}"
