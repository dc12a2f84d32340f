"""R11: metrics.jsonl survives whatever stopped the run, and no step stands in it twice.

test_r01_atomic_save.py looks at it after real kills; here the torn ends that a kill can leave are made one by one.
"""

import json
import random
from pathlib import Path

import pytest
from reliability_runs import At, Stopped, crash, lines, outcome, resume, train

from seqlab.runs.log import MetricsLog, read_log

SETTINGS = {"steps": 12, "evaluate_every": 5, "dropout": 0.2}


@pytest.fixture
def stopped(text: Path, tmp_path: Path) -> Path:
    """A run that logged eight steps and saved five."""
    with pytest.raises(Stopped):
        train(text, tmp_path / "stopped", At(8, crash), **SETTINGS)
    assert [line["step"] for line in lines(tmp_path / "stopped") if "loss" in line][-1] == 8
    return tmp_path / "stopped"


def test_a_torn_last_line(stopped: Path, text: Path, tmp_path: Path) -> None:
    whole = outcome(train(text, tmp_path / "whole", **SETTINGS))
    raw = (stopped / "metrics.jsonl").read_bytes()
    cut = random.Random(1).randrange(len(raw) - 60, len(raw))
    (stopped / "metrics.jsonl").write_bytes(raw[:cut])
    assert outcome(resume(stopped)) == whole


@pytest.mark.parametrize(
    "end",
    [b'{"step": 6, "lo', b'{"step"', b"\0" * 4096, b"\xff\xfe", b'{"step": "six"}\n', b"[" * 100_000, b"[]\n", b"\n\n"],
)
def test_ends_that_are_no_lines(end: bytes, stopped: Path, text: Path, tmp_path: Path) -> None:
    log = stopped / "metrics.jsonl"
    log.write_bytes(log.read_bytes() + end)
    resume(stopped)
    steps = [line["step"] for line in lines(stopped) if "loss" in line]
    assert steps == list(range(1, 13))
    assert [line["step"] for line in lines(stopped) if "validation_loss" in line] == [5, 10, 12]


def test_lines_go_out_one_by_one(tmp_path: Path) -> None:
    """What has been written can be read at once, not when the run ends."""
    log = MetricsLog(tmp_path / "metrics.jsonl", 0)
    for step in range(1, 4):
        log.write(step=step, loss=1 / step)
        assert [line["step"] for line in read_log(tmp_path / "metrics.jsonl")] == list(range(1, step + 1))
    log.close()


def test_what_is_not_finite_is_written_as_nothing(tmp_path: Path) -> None:
    """JSON has no such numbers."""
    log = MetricsLog(tmp_path / "metrics.jsonl", 0)
    log.write(step=1, loss=float("nan"), norm=float("inf"))
    log.close()
    line = (tmp_path / "metrics.jsonl").read_text()
    assert json.loads(line, parse_constant=lambda name: pytest.fail(name)) == {"step": 1, "loss": None, "norm": None}
