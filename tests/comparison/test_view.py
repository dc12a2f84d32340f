"""What is seen of all runs: a live table in a terminal, plain lines in a log."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from seqlab.comparison.execution import progress as view
from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.progress import LogView, ProgressView, TerminalView
from seqlab.comparison.execution.shared_progress import SharedProgress


def job(place: str, seconds: float = 10.0) -> Job:
    return Job(place, {"train": {"steps": 100}}, "test", seconds)


@pytest.fixture
def clocked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(view.time, "monotonic", lambda: now[0])
    return now


def test_the_share_is_weighed_by_time_and_the_rest_estimated(clocked: list[float]):
    board = ProgressView()
    long, brief = job("runs/long-0", 30.0), job("runs/brief-0", 10.0)
    board.begin("runs", [long, brief])
    assert board.left == "-:--" and board.share == 0
    board.event(long, {"kind": "begin", "step": 0, "steps": 100})
    board.event(long, {"kind": "step", "step": 50, "loss": 2.0})
    clocked[0] = 15.0
    assert board.share == 0.375 and board.left == "0:25"
    board.event(brief, {"kind": "done"})
    assert board.share == 0.625 and board.done == 1


def test_what_was_done_in_an_earlier_sitting_makes_nobody_faster(clocked: list[float]):
    board = ProgressView()
    running = job("runs/long-0")
    board.begin("runs", [running])
    board.event(running, {"kind": "begin", "step": 80, "steps": 100})
    board.event(running, {"kind": "step", "step": 90, "loss": 2.0})
    clocked[0] = 10.0
    assert board.left == "0:10"


def test_lines_tell_what_ended_and_now_and_then_where_all_stand(
    clocked: list[float], capsys: pytest.CaptureFixture[str]
):
    lines = LogView()
    first, second = job("runs/a-0"), job("runs/b-0")
    lines.begin("runs", [first, second])
    lines.event(first, {"kind": "begin", "step": 0, "steps": 100})
    lines.event(first, {"kind": "step", "step": 40, "loss": 1.5})
    lines.refresh()
    assert capsys.readouterr().err == "runs: 2 to do\n"
    clocked[0] = 11.0
    lines.refresh()
    assert "20% of runs" in (said := capsys.readouterr().err) and "runs/a-0 40/100 loss 1.500" in said
    lines.event(first, {"kind": "evaluation", "step": 100, "validation": 1.25})
    lines.event(first, {"kind": "done"})
    lines.event(second, {"kind": "failed", "message": "it broke"})
    assert capsys.readouterr().err == "1/2  runs/a-0 done  validation loss 1.2500\n1/2  runs/b-0 failed  it broke\n"


def test_the_screen_shows_one_line_a_run(monkeypatch: pytest.MonkeyPatch):
    screen = TerminalView()
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=100)
    monkeypatch.setattr(screen, "_console", terminal)
    jobs = [job(f"runs/[bold]x-{seed}") for seed in range(30)]
    screen.begin("runs", jobs)
    event: dict[str, Any] = {"kind": "step", "step": 40, "loss": 1.5}
    screen.event(jobs[29], {"kind": "begin", "step": 0, "steps": 100})
    screen.event(jobs[29], event)
    screen.event(jobs[3], {"kind": "done"})
    screen.refresh()
    screen.end()
    shown = written.getvalue()
    assert "1 of 30 done" in shown and "40/100" in shown and "1.5000" in shown and "and 6 more" in shown
    assert "runs/[bold]x-29" in shown


def test_of_several_processes_one_shows_the_jobs_of_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    jobs = [job("runs/rnn-0"), job("runs/gru-0")]
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.setenv(name, "2")
    for name, value in {"MASTER_ADDR": "x", "MASTER_PORT": "1", "RANK": "1", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    other = view.view_for_stderr()
    other.log("the plan")
    other.begin("runs", jobs)
    other.event(jobs[1], {"kind": "step", "step": 50, "steps": 100, "loss": 2.0})
    other.refresh()
    assert capsys.readouterr().err == ""
    other.alert("its worker process died")
    assert capsys.readouterr().err == "process 1: its worker process died\n"
    SharedProgress(tmp_path, other).write([jobs[1]])
    for name in ("RANK", "LOCAL_RANK"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setattr(LogView, "EVERY", 0.0)
    shown = view.view_for_stderr()
    shown.begin("runs", jobs)
    SharedProgress(tmp_path, shown).show(jobs)
    shown.refresh()
    said = capsys.readouterr().err
    assert "runs: 2 to do\n25% of runs" in said and "runs/gru-0 50/100 loss 2.000" in said
