"""Muon beside torch's own, matrix by matrix; AdamW for the rest; which parameters are matrices, and of how many."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from train_cases import Said, run_settings, task_and_model

from seqlab import api
from seqlab.config import TrainSettings, VocabSizes, resolve
from seqlab.errors import UsageError
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model
from seqlab.testing.architecture import architecture_checks
from seqlab.testing.cases import ArchitectureCase
from seqlab.training.muon import MuonAdamW, hidden_matrices, matrix_blocks, orthogonalized
from seqlab.training.optimization import make_optimizer
from seqlab.training.precision import product_speed
from seqlab.training.progress import Reporter
from seqlab.training.request import settings_from_request

CASES = [case for name in BACKBONES for case, _ in architecture_checks(BACKBONES.load(name))]


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def close(ours: Tensor, theirs: Tensor, before: Tensor) -> None:
    """The same change, up to the rounding of bfloat16 in products of another order."""
    moved = torch.linalg.vector_norm(theirs - before)
    assert torch.linalg.vector_norm(ours - theirs) <= 0.03 * moved, "another update"


@pytest.mark.parametrize("shape", [(8, 8), (24, 10), (10, 24), (1, 6), (33, 1)], ids=str)
def test_one_matrix_is_updated_as_by_torch(shape: tuple[int, int]) -> None:
    ours, theirs = (nn.Parameter(draw(*shape, seed=0)) for _ in range(2))
    before = ours.detach().clone()
    optimizers = [
        MuonAdamW({ours: 1}, [], lr=0.02, beta2=0.99, decay=0.1),
        torch.optim.Muon([theirs], lr=0.02, weight_decay=0.1, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
    ]
    for step in range(5):
        for parameter, optimizer in zip((ours, theirs), optimizers, strict=True):
            parameter.grad = draw(*shape, seed=step + 1)
            optimizer.step()
    close(ours, theirs, before)


def test_stacked_matrices_are_updated_one_by_one() -> None:
    gates = nn.Parameter(draw(4 * 6, 5, seed=0))
    others = [nn.Parameter(draw(6, 5, seed=9)), nn.Parameter(draw(7, 3, seed=8))]  # one of the same shape as a gate
    alone = [nn.Parameter(part.clone()) for part in gates.detach().split(6)]
    before = gates.detach().clone()
    ours = MuonAdamW({gates: 4, others[0]: 1, others[1]: 1}, [], lr=0.1, beta2=0.99, decay=0.0)
    theirs = torch.optim.Muon(alone, lr=0.1, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    for step in range(3):
        gates.grad = draw(24, 5, seed=step)
        gates.grad[:6] *= 1000  # a large gate must not drown the others
        for parameter in others:
            parameter.grad = draw(*parameter.shape, seed=step)
        for parameter, part in zip(alone, gates.grad.split(6), strict=True):
            parameter.grad = part.clone()
        ours.step()
        theirs.step()
    close(gates, torch.cat([parameter.detach() for parameter in alone]), before)


def test_the_rest_is_updated_by_adamw_to_the_bit() -> None:
    train = run_settings(optimizer="muon", weight_decay=0.3, lr=0.05).train
    _, model = task_and_model(run_settings())
    _, same = task_and_model(run_settings())
    same.load_state_dict(model.state_dict())
    muon, adamw = make_optimizer(model, train), make_optimizer(same, train.model_copy(update={"optimizer": "adamw"}))
    for step in range(3):
        for one, other in zip(model.parameters(), same.parameters(), strict=True):
            one.grad = draw(*one.shape, seed=step)
            other.grad = one.grad.clone()
        muon.step()
        adamw.step()
    hidden = hidden_matrices(model)
    for (name, one), other in zip(model.named_parameters(), same.parameters(), strict=True):
        assert torch.equal(one, other) == (one not in hidden), name
    assert {name for name, p in model.named_parameters() if p in hidden} == {
        "backbone.cells.0.weight_ih",
        "backbone.cells.0.weight_hh",
    }


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 40),
    columns=st.integers(1, 40),
    count=st.integers(1, 4),
    scale=st.floats(1e-4, 1e4),
    dtype=st.sampled_from([torch.bfloat16, torch.float32]),
)
def test_singular_values_come_near_one(rows: int, columns: int, count: int, scale: float, dtype: torch.dtype) -> None:
    """Except those that are tiny beside the largest: five steps do not reach them."""
    x_NRC = scale * draw(count, rows, columns, seed=rows * 41 + columns)
    result_NRC = orthogonalized(x_NRC, dtype)
    assert result_NRC.dtype == dtype
    before, after = (torch.linalg.svdvals(x.float()) for x in (x_NRC, result_NRC))
    counted = before > 0.05 * before.amax(1, keepdim=True)
    assert float(after.max()) < 1.4 and float(after[counted].min()) > 0.4


def test_the_iteration_is_nearly_the_same_in_both_precisions() -> None:
    x_NRC = draw(3, 24, 17, seed=5)
    exact, rounded = (orthogonalized(x_NRC, dtype).float() for dtype in (torch.float32, torch.bfloat16))
    assert 0 < torch.linalg.vector_norm(exact - rounded) < 0.03 * torch.linalg.vector_norm(exact)


@pytest.mark.parametrize(("speed", "chosen"), [(2.0, "bf16"), (1.0, "bf16"), (0.9, "float32"), (0.01, "float32")])
def test_the_iteration_takes_the_faster_precision_and_keeps_it(
    speed: float, chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, dtypes, said = [], set(), Said()

    def known(device: str) -> float:
        measured.append(device)
        return speed

    def orthogonalize(x_NRC: Tensor, dtype: torch.dtype) -> Tensor:
        dtypes.add(dtype)
        return orthogonalized(x_NRC, dtype)

    monkeypatch.setattr("seqlab.training.precision.product_speed", known)
    monkeypatch.setattr("seqlab.training.muon.orthogonalized", orthogonalize)
    (tmp_path / "t.txt").write_text("the cat sat on the mat. " * 40)
    sizes: dict[str, Any] = {"hidden": 8, "embedding": 8, "window": 8, "batch_size": 2, "threads": 1}
    settings = {"train.optimizer": "muon"}
    run = api.train(tmp_path / "t.txt", steps=2, settings=settings, out=tmp_path / "r", reporter=said, **sizes)
    assert run.settings.train.muon_precision == chosen
    assert dtypes == {torch.float32 if chosen == "float32" else torch.bfloat16}
    assert any(f"{speed:.2g} times as fast" in line for line in said.messages) == (chosen == "float32")
    api.resume(tmp_path / "r", 2, Reporter())
    assert measured == ["cpu"], "a resumed run keeps the choice"
    again = api.train(tmp_path / "t.txt", like=tmp_path / "r", steps=1, out=tmp_path / "again", reporter=Reporter())
    assert again.settings.train.muon_precision == chosen and measured == ["cpu"] * 2, "another machine may differ"
    settings["train.muon_precision"] = "bf16"
    api.train(tmp_path / "t.txt", steps=1, settings=settings, out=tmp_path / "own", reporter=Reporter(), **sizes)
    assert measured == ["cpu"] * 2, "what is set is not measured"


def test_products_are_timed_in_both_precisions() -> None:
    assert product_speed("cpu") > 0


def test_the_precision_of_the_iteration_is_refused_for_another_optimizer(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("the cat sat on the mat. " * 40)
    with pytest.raises(UsageError, match=r"muon_precision does nothing: train\.optimizer is adam"):
        api.train(tmp_path / "t.txt", steps=1, settings={"train.muon_precision": "float32"}, out=tmp_path / "r")


def test_a_gradient_of_zeros_moves_nothing() -> None:
    assert not bool(orthogonalized(torch.zeros(2, 3, 4)).any())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_modules_declare_is_there_and_can_be_split(case: ArchitectureCase) -> None:
    backbone = case.build()
    parameters = dict(backbone.named_parameters())
    for name, blocks in matrix_blocks(backbone).items():
        assert parameters[name].dim() == 2, name
        assert blocks == 0 or len(parameters[name]) % blocks == 0, name


@pytest.mark.parametrize(
    ("arch", "changes", "expected"),
    [
        ("rnn", {}, {"weight_ih": 1, "weight_hh": 1}),
        ("gru", {}, {"weight_ih": 3, "weight_hh": 3}),
        ("lstm", {}, {"weight_ih": 4, "weight_hh": 4}),
        ("lstm-attention", {}, {"weight_ih": 4, "from_query.weight": 1, "from_key.weight": 1}),
        ("transformer", {}, {"attention.into.weight": 3, "attention.out.weight": 1, "up.weight": 1, "down.weight": 1}),
        ("transformer", {"activation": "swiglu"}, {"up.weight": 2}),
        ("transformer", {"positions": "learned"}, {"positions.table": 0}),
        ("feedforward", {}, {"layers.0.weight": 1}),
    ],
)
def test_gates_and_projections_are_matrices_of_their_own(
    arch: str, changes: dict[str, Any], expected: dict[str, int]
) -> None:
    backbone = BACKBONES.load(arch)(BACKBONES.settings(arch)(hidden=8, **changes), 8)
    blocks = matrix_blocks(backbone)
    for ending, count in expected.items():
        found = [number for name, number in blocks.items() if name.endswith(ending)]
        assert found and set(found) == {count}, (ending, blocks)


def test_a_module_that_declares_nothing_has_single_matrices() -> None:
    assert matrix_blocks(nn.Linear(3, 6)) == {"weight": 1}


@pytest.mark.parametrize("task", ["language", "classify", "tag", "translate"])
def test_every_parameter_is_in_one_group_and_tables_are_not_matrices(task: str) -> None:
    tables = {"corpus": {"source": ["none"]}, "task": {"name": task}, "backbone": {"name": "transformer", "hidden": 8}}
    resolved = resolve({**tables, "backbone": {**tables["backbone"], "positions": "learned"}})
    model = build_model(resolved, VocabSizes(11, 11, 7, 3))
    optimizer = make_optimizer(model, TrainSettings(optimizer="muon"))
    grouped = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert sorted(grouped) == sorted(id(p) for p in model.parameters())
    names = {id(p): name for name, p in model.named_parameters()}
    matrices = [names[id(p)] for p in optimizer.param_groups[0]["params"]]
    assert matrices and not any("embedding" in name or "table" in name or "output" in name for name in matrices)


def test_the_momentum_of_sgd_does_not_apply() -> None:
    with pytest.raises(UsageError, match=r"train\.momentum does nothing: train\.optimizer is muon"):
        settings_from_request("toy-words", {}, {"train.momentum": 0.5}, {"optimizer": "muon"})
