"""R8: a full disk ends a run with exit code 74, the bytes needed and available, and the checkpoint before it intact.

Needs a small disk, and so the right to mount one; skipped where there is none.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reliability_runs import TEXT, TINY_OPTIONS, Answer, outcome, resume, train

from seqlab import api

SIZE = 20 << 20
LARGE = ["--hidden", "128", "--embedding", "32"]  # a checkpoint of 1 MB
OPTIONS = [*TINY_OPTIONS, *LARGE, "--batching", "stream", "--evaluate-every", "3", "--set", "train.sample_tokens=0"]
SETTINGS = {"hidden": 128, "embedding": 32, "batching": "stream", "evaluate_every": 3}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs to be root")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path, left: int) -> Path:
    """Leave about this many bytes."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    filler = disk / "filler"
    filler.write_bytes(bytes(free - left))
    return filler


def assert_says_how_much(answer: Answer) -> None:
    assert answer.code == 74, answer.err
    said = re.search(r"disk is full: '([^']+)' needs ([\d,]+) bytes, ([\d,]+) are available", answer.err)
    assert said, answer.err
    needed, available = (int(said[group].replace(",", "")) for group in (2, 3))
    assert needed > 0 and available < SIZE


@pytest.mark.parametrize("left", [700_000, 30_000])
def test_the_checkpoint_before_is_intact(
    left: int, disk: Path, text: Path, tmp_path: Path, command: Callable[..., Answer]
) -> None:
    run = disk / "run"
    assert command("train", text, "--out", run, "--steps", "3", *OPTIONS).code == 0
    before = outcome(run)
    filler = fill(disk, left)
    assert_says_how_much(command("resume", run, "--more", "3"))
    assert api.load(run).generate("the ", 5)
    now = {path.name: path.read_bytes() for path in (run / "checkpoints" / before["newest"]).glob("*.safetensors")}
    assert now.items() <= before.items()
    assert not list((run / "checkpoints").glob(".step*")), "what could not be written is removed"
    filler.unlink()
    assert command("resume", run).code == 0
    whole = resume(train(text, tmp_path / "whole", steps=3, **SETTINGS), more=3)
    assert outcome(run) == outcome(whole)


@pytest.mark.slow
def test_a_disk_that_fills_at_any_moment(
    disk: Path, text: Path, tmp_path: Path, command: Callable[..., Answer]
) -> None:
    """Whatever there is room for, the run ends well or with 74, and goes on when there is room again."""
    whole = outcome(train(text, tmp_path / "whole", steps=6, **SETTINGS))
    codes = set()
    for number, left in enumerate(range(0, 4_000_000, 80_000)):
        filler, run = fill(disk, left), disk / f"run-{number}"
        answer = command("train", text, "--out", run, "--steps", "6", *OPTIONS)
        codes.add(answer.code)
        assert answer.code in (0, 74), answer.err
        filler.unlink()
        if answer.code and (run / "checkpoints").is_dir() and any((run / "checkpoints").iterdir()):
            assert command("resume", run).code == 0
        elif answer.code:
            assert command("train", text, "--out", run, "--overwrite", "--steps", "6", *OPTIONS).code == 0
        assert outcome(run) == whole
        subprocess.run(["rm", "-r", str(run)], check=True)
    assert codes == {0, 74}


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_the_token_cache(
    documents: str, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Answer]
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(disk / "cache"))
    large = tmp_path / "large.txt"
    large.write_text(TEXT * 60, encoding="utf-8")
    fill(disk, 65_536)
    arguments = ["train", large, "--documents", documents, "--out", tmp_path / "run", "--steps", "1", *TINY_OPTIONS]
    answer = command(*arguments)
    assert answer.code == 74 and str(disk) in answer.err, answer.err
    assert "None" not in answer.err
    assert not list((disk / "cache" / "tokens").iterdir()), "half an entry is left"
    (disk / "filler").unlink()
    assert command(*arguments).code == 0


def test_a_text_from_standard_input(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Answer]
) -> None:
    """It is kept in the run, so that the run can be resumed."""
    large = tmp_path / "large.txt"
    large.write_text(TEXT * 60, encoding="utf-8")
    fill(disk, 65_536)
    with large.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        answer = command("train", "-", "--out", disk / "run", "--steps", "1", *TINY_OPTIONS)
    assert_says_how_much(answer)
