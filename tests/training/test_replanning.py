"""Steps that are planned again while they run, so that training ends in time."""

import time
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train_cases import run_settings

import seqlab
from seqlab.config import TrainSettings
from seqlab.errors import UsageError
from seqlab.training import loop
from seqlab.training.progress import Reporter
from seqlab.training.replanning import Replanning
from seqlab.training.step import StepLoss, TrainingStep
from seqlab.training.timing import TIMED_STEPS

TEXT = "the quick brown fox jumps over the lazy dog and runs to the sea where the cat sat on a mat. " * 60


class Planned(Reporter):
    def __init__(self) -> None:
        self.plans: list[int] = []

    def begin(self, step: int, steps: int) -> None:
        self.plans.append(steps)

    def plan(self, steps: int) -> None:
        self.plans.append(steps)


@given(
    speeds=st.lists(st.floats(0.5, 2.0), min_size=2, max_size=6),
    seconds=st.floats(50, 500),
    first=st.integers(10, 5000),
)
def test_training_ends_in_time_whatever_the_steps_take(speeds: list[float], seconds: float, first: int) -> None:
    """The speed changes several times; what was planned first does not matter."""
    replanning = Replanning(TrainSettings(seconds=seconds, replan=True))
    steps, elapsed = first, 0.0
    for step in count(1):
        elapsed += 0.05 / speeds[min(len(speeds) - 1, int(elapsed / seconds * len(speeds)))]
        if step < steps:
            steps = replanning.steps(step, steps, elapsed)
        if step >= steps:
            break
    # the plan of the last fiftieth of the time stands; a first plan that is too short ends the run
    assert elapsed < 1.05 * seconds + 1
    assert elapsed > 0.9 * seconds or steps == first


def test_a_run_on_a_machine_that_slows_down_takes_fewer_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "my.txt"
    text.write_text(TEXT, encoding="utf-8")
    gradients = TrainingStep.gradients

    def slow(training: TrainingStep, step: int) -> StepLoss:
        time.sleep(0.02 if step > 4 * TIMED_STEPS else 0)  # no step that is timed before training
        return gradients(training, step)

    monkeypatch.setattr(TrainingStep, "gradients", slow)
    reporter = Planned()
    run = seqlab.train(
        text,
        out=tmp_path / "r",
        hidden=8,
        seconds=2,
        settings={"train.replan": True, "task.window": 16, "train.evaluate_every": 100000},
        reporter=reporter,
    )
    assert run.results is not None and run.results.steps == reporter.plans[-1] < reporter.plans[0]
    progress = loop.read_progress(max((tmp_path / "r" / "checkpoints").iterdir()))
    assert progress["steps"] == run.results.steps and progress["seconds"] == pytest.approx(2, abs=1)
    assert run.settings.train.budget == {"seconds": 2}
    further = seqlab.resume(tmp_path / "r", more=5)
    assert further.results is not None and further.results.steps == run.results.steps + 5


def test_replan_needs_seconds_and_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="replan needs a budget in seconds"):
        run_settings(replan=True)
    text = tmp_path / "my.txt"
    text.write_text(TEXT, encoding="utf-8")
    with pytest.raises(UsageError, match=r"train\.replan.*plans all steps before"):
        seqlab.compare(text, archs="rnn,gru", budget="steps=5", settings={"train.replan": True}, out=tmp_path / "c")


def test_passes_bound_the_steps_of_a_time(tmp_path: Path) -> None:
    text = tmp_path / "my.txt"
    text.write_text(TEXT, encoding="utf-8")
    settings = {"train.replan": True, "train.max_epochs": 2, "task.window": 16, "task.batch_size": 8}
    reporter = Planned()
    run = seqlab.train(text, out=tmp_path / "r", hidden=8, seconds=3, settings=settings, reporter=reporter)
    assert run.results is not None
    per_epoch = run.results.steps / 2
    assert per_epoch == pytest.approx(0.9 * len(TEXT) / (16 * 8), rel=0.05) and {*reporter.plans} == {run.results.steps}
    with pytest.raises(UsageError, match="max_epochs does nothing: it bounds a budget in seconds"):
        seqlab.train(text, out=tmp_path / "s", hidden=8, steps=3, settings={"train.max_epochs": 2})
