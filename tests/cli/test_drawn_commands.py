"""Whatever is typed, the answer is a known exit code and no traceback, soon and in bounded memory."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bounded_commands import BoundedCommands, Ended
from drawn_commands import Drawn, declared, drawn_commands
from drawn_files import COMPARISON, RUNS, copy_prepared, damage, drawn_text, write_files

CODES = (0, 2, 65, 66, 70, 74)
SHORT, ALL = 40, 2_000


@pytest.fixture(scope="module")
def commands() -> Iterator[BoundedCommands]:
    with BoundedCommands() as bounded:
        yield bounded


def prepare(commands: BoundedCommands, folder: Path, runs: dict[str, list[str]]) -> Path:
    write_files(folder)
    for name, words in runs.items():
        ended = commands.run(folder, [*words, "--out", f"runs/{name}"], seconds=600)  # kernels are compiled here
        assert ended.code == 0, (words, ended)
    index = ["index", "documents.jsonl", "--run", "runs/writer", "--out", "runs/index"]
    ended = commands.run(folder, index, seconds=600)
    assert ended.code == 0, ended
    return folder


def run_drawn(commands: BoundedCommands, drawn: Drawn, prepared: Path, folder: Path) -> str | None:
    """What was wrong, if anything."""
    folder.mkdir()
    copy_prepared(prepared, folder)
    draw = random.Random(drawn.seed)
    (folder / "drawn.txt").write_bytes(drawn_text(draw))
    spoilt = damage(folder, drawn.words, draw) if drawn.damaged else ""
    ended: Ended = commands.run(folder, drawn.words, drawn_text(draw))
    shutil.rmtree(folder)
    failed_audit = drawn.command == "audit" and ended.code == 1 and "failed" in ended.out
    if (ended.code in CODES or failed_audit) and "Traceback" not in ended.out + ended.err:
        return None
    return f"{drawn.seed}: {drawn.words} {spoilt}: exit {ended.code}, {ended.seconds:.0f} s: {ended.err[-1500:]}"


def test_every_command_and_every_option_is_drawn() -> None:
    """A word-valued option without sensible values cannot be drawn: give it some in SENSIBLE."""
    everything = {(name, parameter.name) for name, parameters in declared().items() for parameter in parameters}
    drawn = {(drawn.command, option) for drawn in drawn_commands(seed=1, count=ALL) for option in drawn.options}
    assert drawn == everything
    assert {drawn.command for drawn in drawn_commands(seed=0, count=SHORT, quick=True)} == {
        name for name, _ in everything
    }


def test_forty_commands(commands: BoundedCommands, tmp_path: Path) -> None:
    (tmp_path / "prepared").mkdir()
    prepared = prepare(commands, tmp_path / "prepared", {name: RUNS[name] for name in ("writer", "labels")})
    drawn_now = drawn_commands(seed=0, count=SHORT, quick=True)
    failures = [run_drawn(commands, drawn, prepared, tmp_path / "work") for drawn in drawn_now]
    assert not [failure for failure in failures if failure]


@pytest.mark.slow
@pytest.mark.timeout(3 * 3600)
def test_two_thousand_commands(commands: BoundedCommands, tmp_path: Path) -> None:
    (tmp_path / "prepared").mkdir()
    prepared = prepare(commands, tmp_path / "prepared", {**RUNS, "comparison": COMPARISON})
    failures = [run_drawn(commands, drawn, prepared, tmp_path / "work") for drawn in drawn_commands(seed=1, count=ALL)]
    assert not [failure for failure in failures if failure]
