"""train.recompute: the same losses and gradients, dropout included, and less that is kept for the gradient."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.config import build_settings
from seqlab.registry import BACKBONES, TASKS
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.training.step import TrainingStep

WORDS = ["red", "green", "blue", "small", "large", "old", "new", "fish", "bird", "stone"]
TEXT = "".join(f"{WORDS[at % 10]} {WORDS[at * at % 10]} sees a {WORDS[at * 7 % 9]}.\n" for at in range(200))
RECOMPUTED = [name for name in BACKBONES.builtin() if getattr(BACKBONES.load(name), "recomputes", False)]
COMMON: dict[str, Any] = {
    "backbone.hidden": 16,
    "backbone.layers": 3,
    "backbone.dropout": 0.2,
    "model.embedding": 12,
    "model.embedding_dropout": 0.1,
    "model.output_dropout": 0.1,
    "task.window": 24,
    "task.batch_size": 3,
    "train.steps": 2,
}


def gradients(folder: Path, arch: str, recompute: bool) -> tuple[float, dict[str, Tensor], int]:
    """The loss, every gradient, and how many bytes were kept for them."""
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    task_name = "masked" if arch == "transformer-encoder" else "language"
    changes = {**COMMON, "backbone.name": arch, "task.name": task_name, "train.recompute": recompute}
    changes["corpus.source"] = [str(folder / "text.txt")]
    settings = build_settings({}, list(changes.items()))
    dataset = TASKS.load(task_name).open_dataset(settings, lambda _: None)
    step = TrainingStep(build_model(settings, dataset.vocabulary.sizes), make_task(settings, dataset), settings.train)
    kept: dict[int, int] = {}

    def keep(x: Tensor) -> Tensor:
        kept[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
        loss = step.gradients(0)
    found = {name: weight.grad for name, weight in step.model.named_parameters() if weight.grad is not None}
    return loss.loss_sum, found, sum(kept.values())


@pytest.mark.parametrize("arch", RECOMPUTED)
def test_every_gradient_is_the_same(tmp_path: Path, arch: str) -> None:
    loss, expected, kept = gradients(tmp_path, arch, recompute=False)
    again, found, kept_again = gradients(tmp_path, arch, recompute=True)
    assert again == loss
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-6, atol=1e-7)
    assert kept_again < kept
