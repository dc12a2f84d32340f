"""What a log and a terminal show of training."""

import io
import sys
from pathlib import Path

import pytest

from seqlab import api
from seqlab.training.progress import (
    EvaluationEvent,
    LogReporter,
    ProgressBarReporter,
    Reporter,
    clock,
    losses,
    reporter_for_stderr,
)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0:00"),
        (0.9, "0:00"),
        (75, "1:15"),
        (599, "9:59"),
        (3599, "59:59"),
        (3600, "1:00:00"),
        (4000, "1:06:40"),
        (360_000, "100:00:00"),
    ],
)
def test_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_a_log_has_a_line_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("seqlab.training.progress.time.monotonic", lambda: now[0])
    lines = LogReporter()
    lines.begin(20, 100)  # resumed at 20
    for step in range(21, 61):
        now[0] += 1.0
        lines.step(step, 1.5, 12_345.6)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "step 30/100  loss 1.5000  12,346 tokens/s  1:10 left",
        "step 40/100  loss 1.5000  12,346 tokens/s  1:00 left",
        "step 50/100  loss 1.5000  12,346 tokens/s  0:50 left",
        "step 60/100  loss 1.5000  12,346 tokens/s  0:40 left",
    ]


def test_a_log_has_evaluations_and_what_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    lines = LogReporter()
    lines.begin(0, 10)
    lines.evaluation(EvaluationEvent(5, 2.0, 1.5, True, "one\ntwo"))
    lines.evaluation(EvaluationEvent(10, None, 1.6, False, ""))
    assert capsys.readouterr().err.splitlines() == [
        "step 5/10  training loss 2.0000  validation loss 1.5000  (best so far)",
        "    | one",
        "    | two",
        "step 10/10  validation loss 1.6000",
    ]


@pytest.mark.parametrize("unit", ["token", "text", "word"])
def test_the_speed_is_in_the_unit_of_the_task(
    unit: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogReporter, "EVERY", 0.0)
    log, terminal = LogReporter(), io.StringIO()
    log.unit = unit
    log.begin(0, 10)
    log.step(1, 2.0, 1000.0)
    assert f"  1,000 {unit}s/s  " in capsys.readouterr().err
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = ProgressBarReporter()
    bar.unit = unit
    bar.begin(0, 10)
    bar.step(1, 2.0, 1000.0)
    bar.end()
    assert f"1,000 {unit}s/s" in terminal.getvalue()


def test_a_classifier_counts_texts(tmp_path: Path) -> None:
    listener = Reporter()
    (tmp_path / "e.tsv").write_text("text\tlabel\n" + "".join(f"text {at}\t{at % 2}\n" for at in range(40)))
    api.train(tmp_path / "e.tsv", task="classify", hidden=4, steps=1, out=tmp_path / "run", reporter=listener)
    assert listener.unit == "text"


def test_the_plain_cross_entropy_stands_beside_a_training_loss_of_another_kind() -> None:
    event = EvaluationEvent(1, 2.0, 1.5, False, "", train_cross_entropy=1.75)
    assert losses(event) == "training loss 2.0000 (cross-entropy 1.7500)  validation loss 1.5000"


def test_an_equal_metric_is_the_best_by_its_loss() -> None:
    assert losses(EvaluationEvent(1, None, 1.5, True, "", is_tie=True)).endswith("(best so far, by its loss)")


def test_losses_without_a_training_loss() -> None:
    assert losses(EvaluationEvent(1, None, float("nan"), False, "")) == "validation loss nan"


def test_a_terminal_shows_markup_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model writes is text, whatever it looks like."""
    terminal = io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = ProgressBarReporter()
    bar.begin(0, 10)
    bar.step(1, 2.0, 1000.0)
    bar.evaluation(EvaluationEvent(1, 2.0, 1.5, True, "[red]no[/red] [/] \\[x]"))
    bar.log("[/bold] said")
    bar.end()
    assert "[red]no[/red] [/]" in terminal.getvalue() and "[/bold] said" in terminal.getvalue()


def test_bars_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(reporter_for_stderr(), LogReporter)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(reporter_for_stderr(), ProgressBarReporter)


def test_the_base_reporter_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    silent = Reporter()
    silent.begin(0, 1)
    silent.step(1, 1.0, 1.0)
    silent.evaluation(EvaluationEvent(1, 1.0, 1.0, True, "text"))
    silent.log("something")
    silent.end()
    assert capsys.readouterr() == ("", "")
