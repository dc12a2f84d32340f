"""seqlab runs: the runs in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from seqlab.cli import options

if TYPE_CHECKING:
    from seqlab.runs.listing import RunEntry

EXAMPLES = ("seqlab runs", "seqlab runs experiments --json")


def runs(
    folder: Annotated[Path, Argument(help="Folder to search.")] = Path("runs"),
    as_json: options.Json = False,
) -> None:
    """List runs, best first."""

    from seqlab.cli.show import console, table
    from seqlab.runs.listing import list_runs

    entries = list_runs(folder)
    if as_json:
        console.print_json(data=[entry.as_dict() for entry in entries])
        return
    if not entries:
        console.print(f"There are no runs in '{folder}' yet. Train one: seqlab train python-docs", markup=False)
        return
    columns = ["run", "architecture", "corpus", "parameters", "validation", "", "steps", "date"]
    table("", columns, [_row(entry) for entry in entries], texts=3)


def _row(entry: "RunEntry") -> list[str]:
    value, label = (entry.metric.format(entry.value), entry.metric.label) if entry.metric else (entry.status, "")
    size, steps = f"{entry.parameters:,}", f"{entry.steps:,}"
    return [entry.path, entry.arch, entry.corpus, size, value, label, steps, entry.date[:10]]
