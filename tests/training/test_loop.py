"""The loop: what is added up, when it looks at the held-out text, what it keeps, when it stops."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import pad
from train_cases import run_settings, task_and_model, trainer_in

from seqlab.contracts import TextBatch, TextScores
from seqlab.data.text.batches import NOT_SCORED
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.log import read_log
from seqlab.runs.tensors import from_bytes
from seqlab.tasks.language import LanguageTask
from seqlab.training.optimization import learning_rate
from seqlab.training.progress import EvaluationEvent, Reporter
from seqlab.training.step import TrainingStep, step_seed


class Watcher(Reporter):
    def __init__(self) -> None:
        self.evaluations: list[EvaluationEvent] = []

    def evaluation(self, result: EvaluationEvent) -> None:
        self.evaluations.append(result)


# --- what is added up -----------------------------------------------------------------------------------------------


class TwoAtOnce:
    """A task whose batches are two of another's, side by side."""

    def __init__(self, task: LanguageTask):
        self.task, self.settings, self.loss = task, task.settings, task.loss

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        first, second = (self.task.batch(split, seed, 2 * index + i) for i in (0, 1))
        longest = max(first.inputs_BT.shape[1], second.inputs_BT.shape[1])
        inputs, targets, masks = zip(*(padded(batch, longest) for batch in (first, second)), strict=True)
        return TextBatch(torch.cat(inputs), torch.cat(targets), torch.cat(masks))


def padded(batch: TextBatch, length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    more = (0, length - batch.inputs_BT.shape[1])
    mask_BT = torch.ones_like(batch.inputs_BT, dtype=torch.bool) if batch.mask_BT is None else batch.mask_BT
    return pad(batch.inputs_BT, more), pad(batch.targets_BT, more, value=NOT_SCORED), pad(mask_BT, more)


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_two_batches_accumulated_are_one_of_twice_the_size(documents: str) -> None:
    """Ragged batches too: the sum is divided by all that was predicted, not batch by batch."""
    settings = run_settings(documents=documents, batch_size=4, clip_norm=None)
    task, model = task_and_model(settings)
    model = model.double()
    narrow = TrainingStep(model, task, settings.train.model_copy(update={"accumulate": 2}))
    wide = TrainingStep(model, TwoAtOnce(task), settings.train)  # pyright: ignore[reportArgumentType]
    for step in range(3):
        nats, count, norm, _ = narrow.gradients(step)
        ours = [p.grad.clone() for p in model.parameters() if p.grad is not None]
        assert (nats, count, norm) == pytest.approx(wide.gradients(step)[:3], rel=1e-12)
        theirs = [p.grad for p in model.parameters() if p.grad is not None]
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-14)


def test_the_gradient_is_that_of_the_mean_loss() -> None:
    settings = run_settings(clip_norm=None)
    task, model = task_and_model(settings)
    training = TrainingStep(model, task, settings.train)
    nats, count, norm, _ = training.gradients(0)
    batch = task.batch("train", 0, 0)
    assert isinstance(batch, TextBatch)
    logits_BTV, _ = model(batch.inputs_BT)
    ours = [p.grad.clone() for p in training.parameters if p.grad is not None]
    loss = torch.nn.functional.cross_entropy(logits_BTV.flatten(0, 1), batch.targets_BT.flatten())
    theirs = torch.autograd.grad(loss, training.parameters)
    assert (nats / count, count) == (pytest.approx(float(loss.detach())), batch.targets_BT.numel())
    torch.testing.assert_close(ours, list(theirs))
    assert norm == pytest.approx(math.sqrt(sum(float((g**2).sum()) for g in theirs)), rel=1e-5)


def test_steps_and_seeds_have_numbers_of_their_own() -> None:
    seeds = {step_seed(seed, step) for seed in range(50) for step in range(200)}
    assert len(seeds) == 50 * 200 and all(0 <= seed < 2**63 for seed in seeds)


# --- looking at the held-out text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"steps": 10, "evaluate_every": 4}, [4, 8, 10]),
        ({"steps": 10, "evaluate_every": 50}, [10]),
        ({"steps": 10}, list(range(1, 11))),
        ({"steps": 25}, [3, 6, 9, 12, 15, 18, 21, 24, 25]),
    ],
)
def test_it_evaluates_when_asked_and_at_the_end(settings: dict[str, Any], expected: list[int], tmp_path: Path) -> None:
    watcher = Watcher()
    trainer_in(tmp_path, watcher, **settings).run()
    assert [evaluation.step for evaluation in watcher.evaluations] == expected


def test_the_log_has_every_step_and_the_mean_between_evaluations(tmp_path: Path) -> None:
    trainer = trainer_in(tmp_path, steps=9, evaluate_every=3, schedule="linear", warmup=0, lr=0.01)
    trainer.run()
    log = read_log(trainer.directory.metrics)
    steps = [line for line in log if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, 10))
    assert [line["lr"] for line in steps] == pytest.approx([0.01 * (1 - 0.98 * i / 9) for i in range(9)])
    for line in (line for line in log if "validation_loss" in line):
        between = [step["loss"] for step in steps if line["step"] - 3 < step["step"] <= line["step"]]
        assert line["train_loss"] == pytest.approx(sum(between) / 3)


def test_the_log_has_the_plain_cross_entropy_beside_another_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = LanguageTask.loss

    def doubled(task: LanguageTask, *arguments: Any) -> Any:
        loss = real(task, *arguments)
        return replace(loss, total=2 * loss.total, cross_entropy=loss.total.detach())

    monkeypatch.setattr(LanguageTask, "loss", doubled)
    trainer = trainer_in(tmp_path, watcher := Watcher(), steps=9, evaluate_every=3, accumulate=2)
    trainer.run()
    log = read_log(trainer.directory.metrics)
    for line in log:
        loss, plain = ("train_loss", "train_cross_entropy") if "train_loss" in line else ("loss", "cross_entropy")
        assert line[loss] == pytest.approx(2 * line[plain])
    assert len(log) == 12 and all(evaluation.train_cross_entropy for evaluation in watcher.evaluations)


def test_of_equal_accuracies_the_lower_loss_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four evaluations with criteria 0.2, 0.1, 0.1 and 0.1, and losses of 3, 2, 1 and 1.5."""
    Scripted([3.0, 2.0, 1.0, 1.5], monkeypatch)
    criteria = {3.0: 0.2, 2.0: 0.1, 1.0: 0.1, 1.5: 0.1}
    monkeypatch.setattr(TextScores, "criterion", property(lambda scores: criteria[round(scores.loss, 6)]))
    trainer = trainer_in(tmp_path, watcher := Watcher(), steps=4, evaluate_every=1)
    done = trainer.run()
    assert [evaluation.is_best for evaluation in watcher.evaluations] == [True, True, True, False]
    assert [evaluation.is_tie for evaluation in watcher.evaluations] == [False, False, True, True]
    assert (done.best_loss, done.best_validation_loss, done.best_step) == (0.1, pytest.approx(1.0), 3)


class Scripted:
    """Held-out losses as given, one evaluation after the other."""

    def __init__(self, losses: list[float], monkeypatch: pytest.MonkeyPatch):
        remaining, real = iter(losses), LanguageTask.score

        def score(task: LanguageTask, *arguments: Any, **options: Any) -> Any:
            scores = real(task, *arguments, **options)
            return replace(scores, nats_U=scores.tokens_U * next(remaining))

        monkeypatch.setattr(LanguageTask, "score", score)


def test_the_best_weights_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third of five evaluations is the best: its weights are the run's, the last ones are in the checkpoint."""
    Scripted([3.0, 2.5, 2.0, 2.25, 2.125], monkeypatch)

    class Weights(Watcher):
        def evaluation(self, result: EvaluationEvent) -> None:
            super().evaluation(result)
            weights[result.step] = {name: p.detach().clone() for name, p in trainer.model.named_parameters()}

    weights: dict[int, dict[str, torch.Tensor]] = {}
    watcher = Weights()
    trainer = trainer_in(tmp_path, watcher, steps=10, evaluate_every=2)
    done = trainer.run()
    assert (done.best_loss, done.best_step) == (pytest.approx(2.0), 6)
    assert [evaluation.is_best for evaluation in watcher.evaluations] == [True, True, True, False, False]
    last = checkpoints(trainer.directory.checkpoints)[-1] / "weights.safetensors"
    for path, step in ((trainer.directory.path / "model.safetensors", 6), (last, 10)):
        stored = from_bytes(path.read_bytes(), path, weights[step])
        assert stored.keys() == weights[step].keys()
        assert all(torch.equal(stored[name], weights[step][name]) for name in stored)
    assert any(not torch.equal(weights[6][name], weights[10][name]) for name in weights[6])


def test_it_stops_early_when_nothing_gets_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted([3, 2, 2.5, 2.2, 1.9, 2, 2, 2, 1], monkeypatch)
    done = trainer_in(tmp_path, steps=90, evaluate_every=10, patience=3).run()
    assert (done.step, done.best_step, done.finished) == (80, 50, "no better for 3 evaluations")
    assert done.best_loss == pytest.approx(1.9)


def test_it_does_not_stop_early_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Scripted([1.0] + [2.0] * 8, monkeypatch)
    done = trainer_in(tmp_path, steps=9, evaluate_every=1).run()
    assert (done.step, done.best_step, done.finished) == (9, 1, "all steps are done")


def test_the_plateau_schedule_halves_after_two_evaluations_without_a_new_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Scripted([3, 4, 4, 4, 4, 2, 4, 4], monkeypatch)
    trainer = trainer_in(tmp_path, steps=8, evaluate_every=1, schedule="plateau", warmup=0, lr=0.8)
    trainer.run()
    result = [line["lr"] for line in read_log(trainer.directory.metrics) if "lr" in line]
    assert result == pytest.approx([0.8, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.2])


def test_more_steps_have_a_schedule_of_their_own(tmp_path: Path) -> None:
    trainer = trainer_in(tmp_path, steps=30, start_step=20, warmup=2, schedule="linear", lr=0.8)
    trainer.progress.step = 20
    trainer.run()
    found = [line["lr"] for line in read_log(trainer.directory.metrics) if "lr" in line]
    assert found == pytest.approx([learning_rate(trainer.settings, step, 10) for step in range(10)])
    assert found[:2] == pytest.approx([0.4, 0.8]), "it warms up again"


# --- checkpoints ----------------------------------------------------------------------------------------------------


def test_two_checkpoints_are_kept_and_the_first_is_there_from_the_start(tmp_path: Path) -> None:
    class Look(Reporter):
        def step(self, step: int, loss: float, units_per_second: float) -> None:
            seen.append([path.name for path in checkpoints(trainer.directory.checkpoints)])

    seen: list[list[str]] = []
    trainer = trainer_in(tmp_path, Look(), steps=7, evaluate_every=2)
    trainer.run()
    assert seen[0] == ["step-0"] and seen[2] == ["step-0", "step-2"] and seen[4] == ["step-2", "step-4"]
    assert [path.name for path in checkpoints(trainer.directory.checkpoints)] == ["step-6", "step-7"]


def test_it_saves_as_often_as_the_clock_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One second per look at the clock, and a checkpoint every five."""
    ticks = iter(range(10_000))
    monkeypatch.setattr("seqlab.training.loop.time.monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr("seqlab.runs.checkpoint.KEPT_CHECKPOINTS", 100)
    trainer = trainer_in(tmp_path, steps=20, evaluate_every=20, checkpoint_seconds=5)
    trainer.run()
    saved = [int(path.name.removeprefix("step-")) for path in checkpoints(trainer.directory.checkpoints)]
    assert saved[0] == 0 and saved[-1] == 20
    assert all(1 <= later - earlier <= 5 for earlier, later in pairwise(saved))
    assert 4 <= len(saved) <= 12
