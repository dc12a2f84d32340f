"""How results look in a terminal: tables, text that may hold anything, and what to type next."""

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seqlab.metrics.likelihood import Likelihood, sentence

if TYPE_CHECKING:
    from seqlab.api import Run

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


def likelihood_row(name: str, result: Likelihood) -> list[str]:
    return [
        name,
        f"{result.nats_per_token:.4f}",
        f"{result.perplexity:.2f}",
        f"{result.bits_per_char:.4f}",
        f"{result.bits_per_byte:.4f}",
    ]


LIKELIHOOD_COLUMNS = ["", "nats/token", "perplexity", "bits/char", "bits/byte"]


def finished_run(run: "Run") -> None:
    """What a person wants to know when training has ended."""
    results = run.results
    if results is None:
        return
    rows = [likelihood_row(run.settings.backbone.name, results.validation)]
    rows += [likelihood_row(floor.name, floor.likelihood) for floor in results.floors]
    out.print()
    table(f"validation, {results.validation.tokens:,} tokens, windows of {results.window}", LIKELIHOOD_COLUMNS, rows)
    out.print(sentence(results.validation, results.counting).capitalize() + ".")
    counting = results.counting
    if counting and counting.nats_per_token < results.validation.nats_per_token:
        out.print("Counting predicts this text better than the model does so far; longer training may change that.")
    if results.unknown_share:
        out.print(f"{results.unknown_share:.2%} of the validation tokens are unknown symbols.")
    out.print(f"Loss curves: {run.path / 'curves.png'}")


def writing_command(run: "Run") -> str:
    """How to let it write, if it can; lines are written from nothing."""
    if not run.writes:
        return ""
    return f"seqlab generate {run.path}" + ("" if run.tokenizer.documents else ' --prompt "The "')


def next_steps(*commands: str) -> None:
    """What to type next; an empty command is none."""
    out.print("\nWhat to type next:")
    for command in filter(None, commands):
        out.print(f"  {command}", markup=False, soft_wrap=True)
