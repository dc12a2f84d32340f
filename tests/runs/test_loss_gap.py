"""A training loss far below the validation loss is called memorizing; one far above its beginning, diverging."""

import random
from pathlib import Path
from typing import Any

import pytest

from seqlab import api
from seqlab.metrics.descriptions import describe
from seqlab.runs.loss_gap import LossGap, final_gap, loss_caution


@pytest.mark.parametrize(
    ("training", "validation", "memorizes"),
    [(1.16, 1.644, True), (1.4, 1.6, False), (0.01, 0.04, False), (0.05, 0.3, True), (1.6, 1.4, False)],
)
def test_far_below(training: float, validation: float, memorizes: bool) -> None:
    assert LossGap(training, validation).memorizes is memorizes


def test_the_last_evaluation_counts() -> None:
    steps: list[dict[str, Any]] = [{"step": 9, "loss": 0.1}]
    good = {"step": 5, "train_loss": 2.0, "validation_loss": 2.1}
    assert final_gap([]) is None and final_gap(steps) is None
    assert final_gap([good, {"step": 10, "train_loss": 1.0, "validation_loss": 2.2}, *steps]) == LossGap(
        1.0, 2.2, first=2.0
    )
    assert final_gap([good, {"step": 10, "train_loss": None, "validation_loss": None}]) == LossGap(2.0, 2.1, first=2.0)
    assert final_gap([{**good, "train_cross_entropy": 1.5}]) == LossGap(1.5, 2.1, first=1.5)


def test_a_run_that_memorizes_says_so(tmp_path: Path) -> None:
    """Random letters: there is nothing to learn but the training text itself."""
    draw = random.Random(0)
    (tmp_path / "letters.txt").write_text("".join(draw.choice("abcdefgh") for _ in range(800)))
    sizes: dict[str, Any] = {"hidden": 64, "embedding": 16, "batch_size": 8, "window": 32, "dropout": 0.0}
    training: dict[str, Any] = {"steps": 60, "evaluate_every": 30, "lr": 0.05, "sample_tokens": 0, "threads": 1}
    run = api.train(tmp_path / "letters.txt", arch="gru", out=tmp_path / "r", **sizes, **training)
    assert run.results is not None
    assert run.results.caution.startswith("The model memorizes the training data: at the end, the loss is ")
    assert "Longer training will not help" in run.results.caution
    assert run.results.caution in (tmp_path / "r" / "README.md").read_text()


def test_a_validation_loss_that_still_falls_is_no_memorizing() -> None:
    falling = [{"train_loss": 1.0 - step / 10, "validation_loss": 1.5 - step / 10} for step in range(4)]
    gap = final_gap(falling)
    assert gap is not None and gap.improving and not gap.memorizes
    risen = final_gap([*falling, {"train_loss": 0.6, "validation_loss": 1.3}])
    assert risen is not None and not risen.improving and risen.memorizes


def test_training_that_diverged_is_not_called_memorizing(tmp_path: Path) -> None:
    training: dict[str, Any] = {"steps": 2, "lr": 1e9, "sample_tokens": 0, "threads": 1}
    sizes: dict[str, Any] = {"hidden": 8, "embedding": 8, "batch_size": 8, "window": 16}
    (tmp_path / "small.txt").write_text("the quick brown fox jumps over the lazy dog\n" * 20)
    run = api.train(tmp_path / "small.txt", out=tmp_path / "r", **sizes, **training)
    assert run.results is not None
    assert run.results.caution.startswith("The model diverged: the training loss was ")
    assert "Train again with a lower --lr than 1e+09." in run.results.caution
    assert "among over a million equally likely characters" in run.results.sentence
    assert describe("nats_per_token").format(1348318604.4503) == "1.35e+09"


def test_a_loss_that_comes_down_again_but_not_to_its_beginning_has_diverged() -> None:
    step = {"step": 1, "loss": 3.8}
    curve = [{"train_loss": loss, "validation_loss": loss} for loss in (37.0, 110.0, 21.7)]
    gap = final_gap([step, *curve])
    assert gap is not None and loss_caution("gru", gap) == (
        "gru diverged: the training loss was 3.80 at the beginning and 21.70 at the end. "
        "Lower the learning rate (train.lr)."
    )
    ended = final_gap([step, {"train_loss": 4.0, "validation_loss": 4.1}])
    assert ended is not None and not ended.diverged
