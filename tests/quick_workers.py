"""Real worker processes that leave out drawing, which takes longer than the small runs of tests."""

from pathlib import Path

from seqlab.comparison.execution.process import worker_command

NOTHING_DRAWN = "from seqlab.training import finish; finish.draw_curves = lambda *_: None\n"


def command_without_drawing(directory: Path) -> list[str]:
    """The command of a worker; the first line of its program lets it import what this process can."""
    *start, program, place, paths = worker_command(directory)
    imports, rest = program.split("\n", maxsplit=1)
    return [*start, f"{imports}\n{NOTHING_DRAWN}{rest}", place, paths]
