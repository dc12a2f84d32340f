"""Budgets as numbers of steps, sizes that fit the text, devices."""

from pathlib import Path
from typing import Any

import pytest
import torch
from train_cases import material_of, run_settings, task_and_model

import seqlab
from seqlab import threads
from seqlab.config import TrainSettings, resolve
from seqlab.errors import UsageError
from seqlab.tasks.text import TextTask
from seqlab.threads import default_threads
from seqlab.training import budget as budget_module
from seqlab.training.budget import budget_in_steps, budget_notes, check_trainable
from seqlab.training.progress import Reporter
from seqlab.training.timing import StepTiming, time_training


class Listener(Reporter):
    def __init__(self) -> None:
        self.said: list[str] = []

    def log(self, message: str) -> None:
        self.said.append(message)


def budget(reporter: Reporter | None = None, **train: Any) -> dict[str, Any]:
    settings = run_settings(**{"steps": None, **train})
    task, model = task_and_model(settings)
    return budget_in_steps(settings, model, task, reporter or Reporter())


def epoch(**train: Any) -> float:
    return task_and_model(run_settings(**train))[0].steps_per_epoch


def test_steps_are_steps() -> None:
    result = budget(steps=17)
    assert result == {"train.steps": 17, "train.threads": 1, "train.epochs": None, "train.seconds": None}


@pytest.mark.parametrize("epochs", [0.01, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("accumulate", [1, 2, 3, 1000])
@pytest.mark.parametrize("batching", ["windows", "stream"])
def test_epochs_are_passes_over_the_text(epochs: float, accumulate: int, batching: str) -> None:
    """As near as whole steps come to it, whatever is accumulated, and at least one."""
    steps = budget(epochs=epochs, accumulate=accumulate, batching=batching)["train.steps"]
    assert steps == max(1, round(epochs * epoch(batching=batching) / accumulate))


def test_half_a_batch_more_is_no_whole_pass(tmp_path: Path) -> None:
    """A text of nearly two batches was said to be one pass of one step."""
    text = tmp_path / "t.txt"
    text.write_text("the old cat sat on a mat near a river stone. " * 202)
    listener = Listener()
    run = seqlab.train(text, epochs=1, hidden=4, split_ratios="90/10", out=tmp_path / "run", reporter=listener)
    tokens = len(run.task().splits["train"])
    assert 1.9 < tokens / (32 * 128) < 2
    assert run.settings.train.steps == 2 and any("2 steps (1.0 passes over the text)" in line for line in listener.said)


def test_seconds_are_steps_at_the_speed_that_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_module, "time_training", lambda *_: StepTiming(0.002, 0.1))
    listener = Listener()
    # eleven evaluations come off
    assert budget(listener, seconds=10)["train.steps"] == pytest.approx((10 - 1.1) / 0.002, abs=1)
    assert "10 s are" in listener.said[0] and "2.0 ms" in listener.said[0]
    # an evaluation after every 100 steps, and the final one
    steps = budget(seconds=10, evaluate_every=100)["train.steps"]
    assert steps * 0.002 + steps / 100 * 0.1 + 0.1 == pytest.approx(10, abs=0.01)
    assert budget(listener, seconds=0.001)["train.steps"] == budget_module.TIMED_STEPS
    assert "0.001 s are too few for 20 steps, the least, which take longer" in listener.said[-1]


def test_timing_leaves_the_model_as_it_is() -> None:
    settings = run_settings()
    task, model = task_and_model(settings)
    before = [p.detach().clone() for p in model.parameters()]
    timing = time_training(model, task, settings.train)
    assert 0 < timing.step_seconds < 1 and 0 < timing.evaluation_seconds < 5
    assert all(bool((p == b).all()) for p, b in zip(model.parameters(), before, strict=True))


def test_without_a_budget_a_small_text_is_read_forty_times_or_for_a_thousand_steps() -> None:
    assert budget()["train.steps"] == round(40 * epoch()) > budget_module.LEAST_STEPS
    assert budget_module.most_steps(run_settings(), 2) == budget_module.LEAST_STEPS
    assert budget(batch_size=1, window=2)["train.steps"] == budget_module.DEFAULT_STEPS
    assert budget_module.most_steps(run_settings(), 50) == 40 * 50
    examples = resolve({"corpus": {"source": ["t.tsv"]}, "task": {"name": "classify"}})
    assert budget_module.most_steps(examples, 2) == 40 * 2  # a table is read forty times, however small


def test_without_a_budget_training_on_a_text_stops_early() -> None:
    assert budget()["train.patience"] == budget_module.PATIENCE
    assert budget(patience=7)["train.patience"] == 7
    assert "train.patience" not in budget(steps=5)


def test_threads_that_were_not_given_are_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_module, "default_threads", lambda: 3)
    assert budget(threads=None, steps=1)["train.threads"] == 3
    assert default_threads() >= 1


def test_a_training_window_shrinks_with_the_window() -> None:
    settings, listener = run_settings(batch_size=64, window=512).with_values(**{"task.train_window": 500}), Listener()
    task_settings: Any = TextTask.fit_settings(settings, material_of(settings), listener.log).task.settings
    assert task_settings.train_window == task_settings.window < 500
    assert f"a training window of {task_settings.window} instead of 500" in listener.said[0]


def test_sizes_that_do_not_fit_are_said() -> None:
    settings, listener = run_settings(batch_size=64, window=64), Listener()
    dataset = material_of(settings)
    part = dataset.splits["train"]
    task_settings: Any = TextTask.fit_settings(settings, dataset, listener.log).task.settings
    assert task_settings.batch_size * task_settings.window < len(part)
    assert f"{len(part):,} tokens" in listener.said[0] and "instead of 64" in listener.said[0]
    small = run_settings()
    assert TextTask.fit_settings(small, dataset, listener.log) == small and len(listener.said) == 1


@pytest.mark.parametrize("name", ["abacus", "meta", "cpu:x", "", "cuda:99"])
def test_devices_that_there_are_not(name: str) -> None:
    with pytest.raises(UsageError, match=r"train\.device"):
        check_trainable(run_settings(device=name))


def test_the_processor_is_always_there() -> None:
    check_trainable(run_settings(device="cpu"))


def small() -> float:
    """Zero where numbers below the smallest normal one are flushed."""
    return float(torch.tensor(1e-310, dtype=torch.float64) * 1)


def test_while_computing_tiny_numbers_are_zero_and_threads_are_as_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "default_threads", lambda: 4)
    before = torch.get_num_threads()
    with threads.compute_threads(3):
        assert small() == 0 and torch.get_num_threads() == 3
        with threads.compute_threads(2):
            assert torch.get_num_threads() == 2
        assert small() == 0 and torch.get_num_threads() == 3
    assert small() != 0 and torch.get_num_threads() == before
    with pytest.raises(ZeroDivisionError), threads.compute_threads(None):
        assert torch.get_num_threads() == 4
        _ = 1 / 0
    assert small() != 0 and torch.get_num_threads() == before


def test_settings_that_a_run_is_too_short_for_are_said() -> None:
    short = TrainSettings(steps=10, evaluate_every=5, warmup=50, patience=2, average_checkpoints=3)
    assert budget_notes(short, 10) == [
        "train.warmup is 50: 2 are used, a fifth of 10 steps",
        "train.patience is 2 and stops nothing: the run makes 2 evaluations (--evaluate-every)",
        "train.average_checkpoints is 3: the run makes 2 evaluations (--evaluate-every), which are averaged",
    ]
    assert budget_notes(TrainSettings(steps=10), 10) == []
    assert budget_notes(TrainSettings(steps=1000, warmup=50, patience=2, average_checkpoints=3), 10) == []


def test_a_schedule_that_cannot_act_is_said(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("the cat sat on the mat\n" * 40)
    shape: dict[str, Any] = {
        "arch": "rnn",
        "hidden": 4,
        "embedding": 4,
        "window": 8,
        "batch_size": 4,
        "threads": 1,
        "sample_tokens": 0,
    }

    def notes(**options: Any) -> list[str]:
        listener = Listener()
        options |= {**shape, "out": tmp_path / "run", "overwrite": True, "reporter": listener}
        seqlab.train(tmp_path / "my.txt", **options)
        return [note for note in listener.said if "train.schedule is" in note]

    never = "and never lowers the learning rate"
    assert notes(steps=2, schedule="plateau", evaluate_every=2) == [
        f"train.schedule is plateau {never}, which takes 4 evaluations: the run makes 1 evaluation (--evaluate-every)"
    ]
    assert notes(steps=4, schedule="plateau", evaluate_every=1) == []
    decay = {"train.schedule": "decay", "train.decay_after": 2}
    assert notes(epochs=1, settings=decay) == [
        f"train.schedule is decay {never}: train.decay_after is 2 epochs, and the run makes 1.0"
    ]
    assert notes(epochs=2.2, settings=decay) == []
