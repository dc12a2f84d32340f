"""Whatever is typed, the answer is a known exit code and no traceback, soon and in bounded memory."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from bounded_commands import BoundedCommands, Ended
from drawn_commands import SENSIBLE, Drawn, declared, drawn_commands
from drawn_files import COMPARISON, RUNS, copy_prepared, damage, drawn_text, write_files

CODES = (0, 2, 65, 66, 70, 74)
SHORT, ALL = 40, 2_000


@pytest.fixture(scope="module")
def commands() -> Iterator[BoundedCommands]:
    with BoundedCommands() as bounded:
        yield bounded


def prepare(commands: BoundedCommands, folder: Path, runs: dict[str, list[str]]) -> None:
    write_files(folder)
    for name, words in runs.items():
        ended = commands.run(folder, [*words, "--out", f"runs/{name}"])
        assert ended.code == 0, (words, ended)


def run_drawn(commands: BoundedCommands, drawn: Drawn, prepared: Path, folder: Path) -> str | None:
    """What was wrong, if anything."""
    folder.mkdir()
    copy_prepared(prepared, folder)
    draw = random.Random(drawn.seed)
    (folder / "drawn.txt").write_bytes(drawn_text(draw))
    spoilt = damage(folder, drawn.words, draw) if drawn.damaged else ""
    ended: Ended = commands.run(folder, drawn.words, drawn_text(draw))
    if ended.code in CODES and "Traceback" not in ended.out + ended.err:
        return None
    return f"{drawn.seed}: {drawn.words} {spoilt}: exit {ended.code}, {ended.seconds:.0f} s: {ended.err[-1500:]}"
