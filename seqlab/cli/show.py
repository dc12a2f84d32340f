"""How results look in a terminal: tables, sentences, and what to type next."""

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from seqlab.config import CorpusSettings
from seqlab.data.files import STANDARD_INPUT
from seqlab.metrics.descriptions import describe
from seqlab.metrics.metric import Metric
from seqlab.registry import TASKS, with_plugins
from seqlab.terminal import SafeConsole
from seqlab.wording import counted

if TYPE_CHECKING:
    from seqlab.comparison.compare import Comparison
    from seqlab.runs.run import Run


class StrictConsole(SafeConsole):
    """A console whose JSON every parser reads: a number that is not finite is null."""

    def print_json(self, json: str | None = None, *, data: Any = None, **options: Any) -> None:
        super().print_json(json, data=without_nan(data), **{**options, "allow_nan": False})


def without_nan(content: Any) -> Any:
    """The content with None for NaN and infinity, for which JSON has no notation."""
    if isinstance(content, Mapping):
        return {key: without_nan(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [without_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


# in a file or a pipe there is no edge to fold tables at
console = StrictConsole(width=None if sys.stdout.isatty() else 160)


def table(title: str, columns: list[str], rows: list[list[Any]], texts: int = 1) -> None:
    """A table whose first `texts` columns are text and whose others are numbers, right-aligned."""
    grid = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        # names are copied into commands, so the first column is never cut
        min_width = max((len(str(row[0])) for row in rows), default=0) if index == 0 else None
        grid.add_column(
            name,
            justify="left" if index < texts else "right",
            style="bold" if index == 0 else "",
            no_wrap=index == 0,
            min_width=min_width,
            overflow="fold",  # a truncated number is a wrong number
        )
    for row in rows:
        grid.add_row(*(Text(str(cell)) for cell in row))
    console.print(grid)


def metrics_table(title: str, rows: Sequence[tuple[str, Mapping[str, float]]], known: Sequence[Metric] = ()) -> None:
    """Metrics across, names down, without the counts; `known` describes a metric that is not built in."""
    metrics = [describe(key, known) for key in rows[0][1]]
    metrics = [metric for metric in metrics if not metric.is_count]
    cells = [[name, *(metric.format(values.get(metric.key)) for metric in metrics)] for name, values in rows]
    table(title, ["", *(metric.label for metric in metrics)], cells)


def scored_amount(metrics: Mapping[str, float]) -> str:
    """How much was scored: '1,821 examples'."""
    counts = [metric for metric in map(describe, metrics) if metric.is_count]
    if not counts:
        return ""
    plural = counts[0].label
    singular = plural.removesuffix("ies") + "y" if plural.endswith("ies") else plural.removesuffix("s")
    return counted(round(metrics[counts[0].key]), singular, plural)


def print_run(run: "Run") -> None:
    """Print the results of a run when training has ended."""
    results = run.results
    if results is None:
        return
    windows = f", {run.settings.evaluation}" if results.window else ""
    console.print()
    rows = [
        (run.settings.model_name, results.validation),
        *((baseline.name, baseline.metrics) for baseline in results.baselines),
    ]
    title = f"validation, {scored_amount(results.validation)}{windows}"
    metrics_table(title, rows, [results.headline_metric])
    console.print(results.sentence[0].upper() + results.sentence[1:] + ".", markup=False)
    baseline, metric = results.strongest_baseline, results.headline_metric
    if baseline and metric.is_better(baseline.metrics[metric.key], results.headline):
        console.print(f"The baseline {baseline.name} is still better than the model.", markup=False)
    if results.caution:
        console.print(results.caution, markup=False)
    if results.unknown_share:
        scored = "scored " if results.window else ""  # a text has tokens that are only read, as context
        console.print(f"{results.unknown_share:.2%} of the {scored}validation tokens are unknown.")
    console.print(f"Loss curves: {run.path / 'curves.png'}", markup=False)


def print_comparison(comparison: "Comparison") -> None:
    """Print the table, the recommendation, the verdicts and where the report is."""
    from seqlab.comparison.judgment.recommendation import LENS_NAMES
    from seqlab.comparison.judgment.verdicts import baseline_sentence

    results, pairs = comparison.results, comparison.results.baseline_pairs
    console.print()
    console.print(comparison.table(), markup=False, soft_wrap=True)
    paragraphs = {
        "Recommendation": [
            f"{LENS_NAMES[advice.lens].capitalize()}: {advice.sentence}"
            if advice.lens in LENS_NAMES
            else advice.sentence
            for advice in results.recommendation
        ],
        "Before you rely on it": results.warnings,
        "Verdicts": comparison.verdicts,
        "Baseline": [baseline_sentence(pairs, results.baselines, results.metric)] if pairs else [],
    }
    for title, sentences in paragraphs.items():
        if sentences:
            console.print(f"\n[bold]{title}[/]")
            for sentence in sentences:
                print_sentence(sentence)
    checks = [(audit.name, check) for audit in results.audits for check in audit.checks]
    failed = [f"{name}: {check.name}" for name, check in checks if check.failed]
    skipped = sum(check.passed is None for _, check in checks)
    verdict = f"FAILED: {'; '.join(failed)}" if failed else f"all {len(checks) - skipped} checks passed"
    rest = f"; {skipped} not applicable" if skipped else ""
    console.print(f"\nAudit: {verdict}{rest}", markup=False)
    console.print(f"Report: {comparison.directory / 'report.html'}", markup=False)


def print_sentence(sentence: str) -> None:
    """Indented; a terminal gets lines that end between words, a file or a pipe gets one line."""
    if console.is_terminal:
        console.print(Padding(Text(sentence), (0, 0, 0, 2)))
    else:
        console.print(f"  {sentence}", markup=False, soft_wrap=True)


def print_shows(comparison: "Comparison") -> None:
    """The results of a recipe that trains nothing."""
    for name, show in comparison.results.shows.items():
        console.print(f"\n[bold]{name}[/]")
        console.print(show.failure or show.text, markup=False)
    console.print(f"Report: {comparison.directory / 'report.html'}", markup=False)


def print_sample(comparison: "Comparison") -> None:
    """Print a sample of the best model."""
    for sample in comparison.results.samples:
        if sample.name == comparison.results.best.name:
            console.print(f"\n[bold]A sample of {sample.name} at temperature {sample.temperature}[/]")
            console.print(sample.prompt + sample.text, markup=False, style="dim")


def using_command(run: "Run", place: str | None = None) -> str:
    """The command that uses a run: generate or predict."""
    place = place or shlex.quote(str(run.path))
    return TASKS.load(run.settings.task.name).usage_on(place, run.settings.corpus).strip()


def speedrun_command(run: "Run") -> str:
    """The command that makes the best model of the same running text without choices; empty if it cannot read it."""
    corpus = run.settings.corpus
    is_plain = run.settings.task.name == "language" and corpus == CorpusSettings(source=corpus.source)
    if not is_plain or STANDARD_INPUT in corpus.source:
        return ""
    return f"seqlab speedrun {shlex.join(corpus.source)}  # the best model of this text that 5 minutes allow here"


def next_steps(*commands: str) -> None:
    """Print what to type next; empty commands are left out."""
    console.print("\nWhat to type next:")
    for command in filter(None, commands):
        console.print(f"  {with_plugins(command)}", markup=False, soft_wrap=True)
