"""seqlab runs: what has been trained here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

if TYPE_CHECKING:
    from seqlab.runs.listing import RunEntry


def runs(
    folder: Annotated[Path, Argument(help="Where to look.")] = Path("runs"),
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
) -> None:
    """List the runs here, best first."""
    import json

    from seqlab.cli.show import out, table
    from seqlab.runs.listing import list_runs

    found = list_runs(folder)
    if as_json:
        out.print_json(json.dumps([entry.as_dict() for entry in found]))
        return
    if not found:
        out.print(f"There are no runs in '{folder}' yet. Train one: seqlab train python-docs", markup=False)
        return
    columns = ["run", "architecture", "corpus", "parameters", "validation", "", "steps", "date"]
    table("", columns, [_row(entry) for entry in found], texts=3)


def _row(entry: "RunEntry") -> list[str]:
    value, label = (entry.metric.format(entry.value), entry.metric.label) if entry.metric else (entry.status, "")
    size, steps = f"{entry.parameters:,}", f"{entry.steps:,}"
    return [entry.path, entry.arch, entry.corpus, size, value, label, steps, entry.date[:10]]
