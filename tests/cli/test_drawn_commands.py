"""Whatever is typed, the answer is a known exit code and no traceback."""

import resource
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from drawn_commands import drawn_commands, write_files

CODES = (0, 1, 2, 65, 66, 70, 74)
SHORT, ALL, SECONDS, BYTES = 40, 2_000, 60, 4 << 30


def test_forty_commands(seqlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    for words in islice(drawn_commands(seed=0), SHORT):
        answer = seqlab(*words)
        assert answer.code in CODES, (words, answer.err)
        assert "Traceback" not in answer.out + answer.err, words


@pytest.mark.slow
def test_two_thousand_commands(tmp_path: Path) -> None:
    """Each in a process of its own, with bounded time and memory."""
    failures = []
    for number, words in enumerate(islice(drawn_commands(seed=1), ALL)):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_files(folder)
        done = subprocess.run(
            [sys.executable, "-m", "seqlab", *words],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
        )  # fmt: skip
        if done.returncode not in CODES or b"Traceback" in done.stderr:
            failures.append((words, done.returncode, done.stderr[-300:]))
    assert not failures, failures
