"""How results look in a terminal: tables, sentences, and what to type next."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seqlab.metrics.descriptions import describe
from seqlab.metrics.metric import Metric
from seqlab.registry import TASKS

if TYPE_CHECKING:
    from seqlab.runs.run import Run

# in a file or a pipe there is no edge to fold tables at
out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)


def table(title: str, columns: list[str], rows: list[list[Any]], texts: int = 1) -> None:
    """A table whose first `texts` columns are text and whose others are numbers, right-aligned."""
    shown = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        # names are there to be copied, so the first column is never cut
        least = max((len(str(row[0])) for row in rows), default=0) if index == 0 else None
        shown.add_column(
            name,
            justify="left" if index < texts else "right",
            style="bold" if index == 0 else "",
            no_wrap=index == 0,
            min_width=least,
            overflow="fold",  # a number that is cut is a wrong number
        )
    for row in rows:
        shown.add_row(*(Text(str(cell)) for cell in row))
    out.print(shown)


def metrics_table(title: str, rows: Sequence[tuple[str, Mapping[str, float]]], known: Sequence[Metric] = ()) -> None:
    """Metrics across, names down, without the counts; `known` describes a metric that is not built in."""
    metrics = [describe(key, known) for key in rows[0][1]]
    metrics = [metric for metric in metrics if not metric.is_count]
    cells = [[name, *(metric.format(values.get(metric.key)) for metric in metrics)] for name, values in rows]
    table(title, ["", *(metric.label for metric in metrics)], cells)


def scored_amount(metrics: Mapping[str, float]) -> str:
    """How much was scored: '1,821 examples'."""
    counts = [metric for metric in map(describe, metrics) if metric.is_count]
    return f"{counts[0].format(metrics[counts[0].key])} {counts[0].label}" if counts else ""


def finished_run(run: "Run") -> None:
    """Print the results of a run when training has ended."""
    results = run.results
    if results is None:
        return
    windows = f", windows of {results.window}" if results.window else ""
    out.print()
    rows = [
        (run.settings.backbone.name, results.validation),
        *((baseline.name, baseline.metrics) for baseline in results.baselines),
    ]
    title = f"validation, {scored_amount(results.validation)}{windows}"
    metrics_table(title, rows, [results.headline_metric])
    out.print(results.sentence[0].upper() + results.sentence[1:] + ".")
    baseline, metric = results.main_baseline, results.headline_metric
    if baseline and metric.is_better(baseline.metrics[metric.key], results.headline):
        out.print(f"The baseline {baseline.name} is still better than the model.", markup=False)
    if results.unknown_share:
        out.print(f"{results.unknown_share:.2%} of the validation tokens are unknown.")
    out.print(f"Loss curves: {run.path / 'curves.png'}")


def using_command(run: "Run", place: str | None = None) -> str:
    """The command that uses a run: generate, with a prompt unless it generates whole lines, or predict."""
    place = place or str(run.path)
    if run.generates:
        return f"seqlab generate {place}" + ("" if run.tokenizer.documents else ' --prompt "The "')
    return TASKS.load(run.settings.task.name).usage(place)[0].strip()


def next_steps(*commands: str) -> None:
    """Print what to type next; empty commands are left out."""
    out.print("\nWhat to type next:")
    for command in filter(None, commands):
        out.print(f"  {command}", markup=False, soft_wrap=True)
