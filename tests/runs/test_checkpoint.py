"""A checkpoint gives back what it was given, to the bit; old ones and leftovers go."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from seqlab import api
from seqlab.config import resolve
from seqlab.contracts import State
from seqlab.errors import DataError
from seqlab.models.language_model import LanguageModel
from seqlab.runs import checkpoint, manifest
from seqlab.runs.checkpoint import checkpoints, load_checkpoint, read_progress, save_checkpoint
from seqlab.runs.load import build_model

OPTIMISERS: dict[str, Any] = {
    "adam": lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "sgd without momentum": lambda p: torch.optim.SGD(p, lr=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
}


def small(tie_embeddings: bool = False) -> LanguageModel:
    tables = {
        "corpus": {"source": ["none"]},
        "backbone": {"hidden": 6},
        "model": {"embedding": 6, "tie_embeddings": tie_embeddings},
    }
    model = build_model(resolve(tables), 11)
    assert isinstance(model, LanguageModel)
    return model


def step(model: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=draw)
    optimizer.step()


def weights(model: nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("tie_embeddings", [False, True])
@pytest.mark.parametrize("steps", [0, 3])
def test_what_comes_back_goes_on_alike(name: str, tie_embeddings: bool, steps: int, tmp_path: Path) -> None:
    model = small(tie_embeddings)
    optimizer = OPTIMISERS[name](model.parameters())
    for number in range(steps):
        step(model, optimizer, number)
    carry: State = model.backbone.start(3).map(lambda leaf: leaf + 1)
    save_checkpoint(tmp_path, steps, model, optimizer, carry, {"step": steps, "best_loss": 0.1 + 0.2})
    other = small(tie_embeddings)
    moved = OPTIMISERS[name](other.parameters())
    (path,) = checkpoints(tmp_path)
    assert read_progress(path) == {"step": steps, "best_loss": 0.1 + 0.2}
    loaded = load_checkpoint(path, other, moved, model.backbone.start(3))
    assert loaded is not None and all(map(torch.equal, loaded.tensors(), carry.tensors()))
    assert all(map(torch.equal, weights(model), weights(other)))
    step(model, optimizer, 9)
    step(other, moved, 9)
    assert all(map(torch.equal, weights(model), weights(other)))


def test_a_state_is_returned_only_where_one_is_expected(tmp_path: Path) -> None:
    model = small()
    optimizer = OPTIMISERS["adam"](model.parameters())
    start = model.backbone.start(2)
    kept = save_checkpoint(tmp_path, 1, model, optimizer, start, {})
    assert load_checkpoint(kept, model, optimizer, None) is None
    with pytest.raises(DataError, match="carry"):
        load_checkpoint(kept, model, optimizer, model.backbone.start(5))
    without = save_checkpoint(tmp_path, 2, model, optimizer, None, {})
    assert load_checkpoint(without, model, optimizer, start) is None


@dataclass(frozen=True)
class Growing(State):
    """As of attention: what was seen is kept, and there is more of it with every token."""

    keys_BSH: torch.Tensor


def test_a_state_that_has_grown_comes_back(tmp_path: Path) -> None:
    model = small()
    optimizer = OPTIMISERS["adam"](model.parameters())
    start = Growing(torch.zeros(2, dtype=torch.long), torch.zeros(2, 0, 6))
    grown = Growing(torch.full((2,), 5), torch.randn(2, 5, 6))
    saved = save_checkpoint(tmp_path, 1, model, optimizer, grown, {})
    loaded = load_checkpoint(saved, model, optimizer, start)
    assert loaded is not None and all(map(torch.equal, loaded.tensors(), grown.tensors()))
    with pytest.raises(DataError, match="carry"):
        load_checkpoint(saved, model, optimizer, replace(start, keys_BSH=torch.zeros(2, 0, 7)))


def test_only_the_newest_are_kept_in_the_order_of_their_steps(tmp_path: Path) -> None:
    model = small()
    optimizer = OPTIMISERS["adam"](model.parameters())
    for number in (8, 9, 10, 100):
        save_checkpoint(tmp_path, number, model, optimizer, None, {})
    assert [path.name for path in checkpoints(tmp_path)] == ["step-10", "step-100"]
    assert len(list(tmp_path.iterdir())) == checkpoint.KEPT_CHECKPOINTS


def test_what_killed_saves_left_is_removed(tmp_path: Path) -> None:
    model = small()
    optimizer = OPTIMISERS["adam"](model.parameters())
    for name in (".step-3.77.tmp", ".step-2.77.old.tmp"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "weights.safetensors").write_bytes(b"half")
    (tmp_path / "step-none").mkdir()
    assert checkpoints(tmp_path) == []
    save_checkpoint(tmp_path, 4, model, optimizer, None, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-4", "step-none"]


def test_the_same_step_again_replaces_it(tmp_path: Path) -> None:
    model = small()
    optimizer = OPTIMISERS["adam"](model.parameters())
    save_checkpoint(tmp_path, 4, model, optimizer, None, {"finished": ""})
    save_checkpoint(tmp_path, 4, model, optimizer, None, {"finished": "now"})
    assert [path.name for path in tmp_path.iterdir()] == ["step-4"]
    assert read_progress(tmp_path / "step-4") == {"finished": "now"}


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    model = small()
    saved = save_checkpoint(tmp_path, 1, model, OPTIMISERS["adam"](model.parameters()), None, {})
    other = api.build("lstm", vocab_size=11, hidden=7, embedding=6)
    before = weights(other)
    with pytest.raises(DataError, match="does not fit the settings"):
        load_checkpoint(saved, other, OPTIMISERS["adam"](other.parameters()), None)
    assert all(map(torch.equal, weights(other), before))


def test_moments_of_another_optimizer_are_refused(tmp_path: Path) -> None:
    model = small()
    optimizer = OPTIMISERS["adam"](model.parameters())
    step(model, optimizer, 1)
    saved = save_checkpoint(tmp_path, 1, model, optimizer, None, {})
    before = weights(model)
    step(model, optimizer, 2)
    with pytest.raises(DataError, match="optimizer"):
        load_checkpoint(saved, model, OPTIMISERS["sgd"](model.parameters()), None)
    assert not all(map(torch.equal, weights(model), before)), "nothing is loaded where one file does not fit"


def test_every_file_is_vouched_for(tmp_path: Path) -> None:
    model = small()
    saved = save_checkpoint(tmp_path, 1, model, OPTIMISERS["adam"](model.parameters()), model.backbone.start(2), {})
    files, _ = manifest.read_manifest(saved)
    assert files.keys() | {manifest.NAME} == {path.name for path in saved.iterdir()}
