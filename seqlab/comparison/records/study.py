"""results/NAME.md: the tables, figures, measures and samples of one study."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.comparison.judgment.collect import thinned
from seqlab.comparison.records.fields import fill
from seqlab.comparison.records.pictures import link
from seqlab.comparison.report.table import markdown_rows, table
from seqlab.comparison.results import Entrant, MeasureResult, Results, RunResult
from seqlab.errors import UsageError
from seqlab.recipes import Recipe
from seqlab.text_table import markdown_table

MOST_STEPS = 12  # rows of the table of losses by step
# our value for each number that a study published about a model
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


@dataclass(frozen=True)
class Study:
    """A record, with all that its section and its page are written from."""

    name: str
    results: Results
    recipe: Recipe | None
    fields: Mapping[str, object]
    pictures: Mapping[str, Path]

    def fill(self, template: str) -> str:
        return fill(template, self.fields, self.name)

    def reference(self, model: str) -> dict[str, Any]:
        """The numbers that the original study published about a model."""
        return self.recipe.reference.get(model, {}) if self.recipe else {}


def study_page(study: Study, page: Path) -> str:
    """The text of the page, which is written to `page`."""
    name, results, corpus = study.name, study.results, study.results.corpus.get("name", "a text")
    about = study.recipe.about if study.recipe else f"a comparison on {corpus}"
    parts = [f"# {name}\n\n{about[0].upper()}{about[1:]}. [All results](../results.md)\n"]
    if results.entrants:
        parts += [
            f"## Table\n\nOn the {results.protocol.get('scored_split')} split of {corpus}:\n",
            markdown_rows(table(results)) + "\n",
            *(_verdicts(results), _published(study), _epochs(study), _by_step(results)),
        ]
    parts.append(_notes(study))
    figures = [
        f"![{key} of {name}]({link(path, page)})\n"
        for key, path in study.pictures.items()
        if key in ("curves", "pairs", "by-length")
    ]
    parts += ["## Figures\n", *figures] if figures else []
    parts += [*_measures(results, page), *_samples(results), _origin(results)]
    return "\n".join(part for part in parts if part)


def _table(heading: str, headers: list[str], rows: list[list[str]]) -> str:
    return f"{heading}\n\n{markdown_table(headers, rows, right=True)}\n" if rows else ""


def _verdicts(results: Results) -> str:
    sentences = [pair.sentence for pair in (*results.pairs, *results.baseline_pairs)]
    listed = "\n".join(f"- {sentence}" for sentence in [*sentences, *results.warnings])
    return f"## Verdicts\n\n{listed}\n" if listed else ""


def _published(study: Study) -> str:
    """Our numbers next to those of the original study."""
    rows = []
    for entrant in study.results.entrants:
        run = study.results.runs_of(entrant.name)[0]
        published = study.reference(entrant.name).get("said", {})
        rows += [[entrant.name, aspect, PUBLISHED[aspect](entrant, run), text] for aspect, text in published.items()]
    return _table("## Beside the study", ["model", "aspect", "here", "study"], rows)


def _epochs(study: Study) -> str:
    """Our losses next to those of the original study, evaluation by evaluation."""
    parts = []
    for entrant in study.results.entrants:
        theirs = study.reference(entrant.name)
        curve = study.results.runs_of(entrant.name)[0].curve
        if len(theirs.get("validation", ())) != len(curve):
            continue
        rows = [
            [str(epoch), f"{ours['train_loss']:.4f}", f"{train:.4f}", f"{ours['validation_loss']:.4f}",
             f"{validation:.4f}", f"{math.exp(ours['validation_loss']):.2f}", f"{perplexity:.2f}"]
            for epoch, (ours, train, validation, perplexity) in enumerate(
                zip(curve, theirs["train"], theirs["validation"], theirs["perplexity"], strict=True), 1
            )
        ]  # fmt: skip
        headers = ["epoch", "training loss", "study", "validation loss", "study", "perplexity", "study"]
        parts.append(_table(f"### {entrant.name}, epoch by epoch, beside the study", headers, rows))
    return "\n".join(parts)


def _by_step(results: Results) -> str:
    """Validation losses at the steps that several runs share."""
    losses = [{point["step"]: point["validation_loss"] for point in run.curve} for run in results.runs]
    counts = Counter(step for curve in losses for step in curve)
    shared = sorted(step for step, count in counts.items() if count > 1)
    rows = [
        [f"{step:,.0f}", *(f"{curve[step]:.4f}" if step in curve else "–" for curve in losses)]
        for step in thinned(shared, MOST_STEPS)
    ]
    return _table("## Validation loss by step", ["step", *map(_title, results.runs)], rows)


def _notes(study: Study) -> str:
    """The recipe's notes, without those about a model that has no record."""
    notes = []
    for note in study.recipe.findings.notes if study.recipe else ():
        try:
            notes.append(f"- {study.fill(note)}")
        except UsageError as error:
            if not isinstance(error.__context__, KeyError | AttributeError):
                raise
    return "## Notes\n\n" + "\n".join(notes) + "\n" if notes else ""


def _measures(results: Results, page: Path) -> Iterator[str]:
    """Shows are visible; the many measures of runs are folded."""
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
            texts = "\n\n".join(f"--- step {sample['step']} ---\n{sample['text']}" for sample in run.samples)
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
