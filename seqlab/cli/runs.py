"""seqlab runs: the runs below a folder."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from seqlab.cli import options

if TYPE_CHECKING:
    from seqlab.runs.listing import RunEntry

EXAMPLES = ("seqlab runs", "seqlab runs experiments --json")
COLUMNS = ["run", "architecture", "tokenizer", "parameters", "validation", "steps", "date"]


def runs(
    folder: Annotated[Path, Argument(help="Folder to search, with the folders below it.")] = Path(),
    as_json: options.Json = False,
) -> None:
    """List runs, those that can be compared together, the best first; tuning trials of comparisons are left out."""

    from seqlab.cli.show import console, table
    from seqlab.runs.listing import LEVELS, list_runs
    from seqlab.wording import counted

    entries = list_runs(folder)
    if as_json:
        console.print_json(data=[entry.as_dict() for entry in entries])
        return
    searched = f"'{folder.absolute()}' and the folders below it, {LEVELS} levels deep"
    if not entries:
        console.print(f"There are no runs in {searched}. Train one: seqlab train python-docs", markup=False)
        return
    groups = [list(group) for _, group in groupby(entries, key=lambda entry: entry.group)]
    for group in groups:
        table(_title(group), COLUMNS, [_row(entry) for entry in group], texts=3)
        for note in _start_notes(group):
            console.print(note, markup=False, soft_wrap=True)
        console.print()
    several = "; only runs of one table can be compared" if len(groups) > 1 else ""
    console.print(f"{counted(len(entries), 'run')} in {searched}{several}.", markup=False)


def _title(group: "list[RunEntry]") -> str:
    entry = group[0]
    if entry.metric is None:
        return "not finished, or damaged"
    mode = f", mode {entry.mode}" if entry.mode in ("window", "carry") else ""
    mode += f" of {entry.window}" if entry.window else ""
    names = " or ".join(dict.fromkeys(one.corpus for one in group))  # the same text in files of several names
    fitted = ", mixtures fitted on this validation split, so it flatters them" if entry.fitted_on_validation else ""
    return f"{entry.task} on {names} ({entry.data[:8]}), {entry.rule}{mode}: {entry.metric.label}{fitted}"


def _row(entry: "RunEntry") -> list[str]:
    value = entry.metric.format(entry.value) if entry.metric else entry.status
    size, steps = f"{entry.parameters:,}", f"{entry.steps:,}"
    return [entry.path, entry.arch, entry.tokenizer, size, value, steps, entry.date[:10]]


def _start_notes(group: "list[RunEntry]") -> list[str]:
    """Which runs began with the weights of others: the table has only their own steps."""
    return [
        f"{entry.path} started from {entry.started_from}: its steps come on top of those of that run"
        for entry in group
        if entry.started_from
    ]
