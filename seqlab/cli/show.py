"""How results look in a terminal: tables, text that may hold anything, and what to type next."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seqlab.metrics.wording import COUNTS, HEADS, figure
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


def metrics_table(title: str, rows: Sequence[tuple[str, Mapping[str, float]]]) -> None:
    """Figures across, names down; what counts what was scored stands in the title."""
    names = [name for name in rows[0][1] if name not in COUNTS]
    table(
        title,
        ["", *(HEADS[name] for name in names)],
        [[who, *(figure(n, got.get(n)) for n in names)] for who, got in rows],
    )


def counted(metrics: Mapping[str, float]) -> str:
    """How much was scored: '1,821 examples'."""
    name = next(name for name in COUNTS if name in metrics)
    return f"{metrics[name]:,.0f} {name}"


def finished_run(run: "Run") -> None:
    """What a person wants to know when training has ended."""
    results = run.results
    if results is None:
        return
    got = results.validation
    windows = f", windows of {results.window}" if results.window else ""
    out.print()
    rows = [(run.settings.backbone.name, got), *((baseline.name, baseline.metrics) for baseline in results.baselines)]
    metrics_table(f"validation, {counted(got)}{windows}", rows)
    out.print(results.sentence[0].upper() + results.sentence[1:] + ".")
    counting = results.counting
    behind = counting and (counting.metrics[results.headline] - got[results.headline]) * results.direction > 0
    if counting and behind and results.window:
        out.print("Counting predicts this text better than the model does so far; longer training may change that.")
    elif counting and behind:
        out.print(f"{counting.name[0].upper()}{counting.name[1:]} does better than the model so far.")
    if results.unknown_share:
        out.print(f"{results.unknown_share:.2%} of the validation tokens are unknown symbols.")
    out.print(f"Loss curves: {run.path / 'curves.png'}")


def using_command(run: "Run", place: str | None = None) -> str:
    """How to use it: to write from a beginning, lines from nothing, or to say something of a text."""
    place = place or str(run.path)
    if run.generates:
        return f"seqlab generate {place}" + ("" if run.tokenizer.documents else ' --prompt "The "')
    return TASKS.load(run.settings.task.name).use(place)[0].strip()


def next_steps(*commands: str) -> None:
    """What to type next; an empty command is none."""
    out.print("\nWhat to type next:")
    for command in filter(None, commands):
        out.print(f"  {command}", markup=False, soft_wrap=True)
