"""Linear layers by oneDNN: the same results as torch's default, and the faster of both is measured, said and kept."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from seqlab import api
from seqlab.comparison.execution.progress import ProgressView
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.linear import Linear, has_onednn, linear, matmul
from seqlab.training import matmul as choice
from seqlab.training.progress import Reporter
from tests.training.train_cases import Said

SIZES: dict[str, Any] = {"hidden": 8, "embedding": 8, "window": 8, "batch_size": 2, "threads": 1}
needs_onednn = pytest.mark.skipif(not has_onednn(), reason="this build of torch has no oneDNN")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[torch.Size]:
    """The shape of x in every product that oneDNN computes."""
    product, shapes = torch.ops.mkldnn._linear_pointwise, []

    def count(x: Tensor, *rest: Any) -> Tensor:
        shapes.append(x.shape)
        return product(x, *rest)

    monkeypatch.setattr("torch.ops.mkldnn._linear_pointwise", count)
    return shapes


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "t.txt"
    path.write_text("the cat sat on the mat. " * 40)
    return path


@needs_onednn
@given(
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    inputs=st.integers(1, 70),
    outputs=st.integers(1, 70),
    biased=st.booleans(),
    swapped=st.booleans(),
    strided=st.booleans(),
)
def test_results_and_every_gradient_equal_those_of_torch(
    shape: list[int], inputs: int, outputs: int, biased: bool, swapped: bool, strided: bool
) -> None:
    """Also where inputs or the gradient of the output do not lie in memory in the order of their positions."""
    draw = torch.Generator().manual_seed(inputs * 71 + outputs)
    x = torch.randn(*shape, inputs, generator=draw)
    x = x.transpose(0, 1).contiguous().transpose(0, 1) if swapped and len(shape) > 1 else x
    weight, bias = torch.randn(outputs, inputs, generator=draw), torch.randn(outputs, generator=draw)
    outer = torch.randn(outputs, *shape, generator=draw).movedim(0, -1)
    outer = outer if strided else outer.contiguous()
    results = []
    for library in ("torch", "onednn"):
        leaves = [leaf.clone().requires_grad_() for leaf in (x, weight, *([bias] if biased else []))]
        with matmul(library):
            y = linear(leaves[0], leaves[1], leaves[2] if biased else None)
        results.append((y.detach(), *torch.autograd.grad(y, leaves, outer)))
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        assert float((one - other).abs().max()) <= 1e-5 * max(1.0, float(one.abs().max()))


@needs_onednn
def test_only_float32_outside_of_autocast_and_within_the_choice_takes_it(counted: list[torch.Size]) -> None:
    layer, x = Linear(6, 4), torch.randn(2, 3, 6)
    layer(x)
    assert not counted, "nobody chose it"
    with matmul("onednn"):
        assert layer(x).shape == (2, 3, 4) and counted == [(2, 3, 6)]
        with matmul("torch"):
            layer(x)
        torch.testing.assert_close(layer.double()(x.double()).float(), functional.linear(x, *map_float(layer)))
        with torch.autocast("cpu", torch.bfloat16):
            assert layer.float()(x).dtype == torch.bfloat16
        assert layer(x[:0]).shape == (0, 3, 4)
    layer(x)
    assert len(counted) == 1


def map_float(layer: Linear) -> tuple[Tensor, Tensor]:
    return layer.weight.detach().float(), layer.bias.detach().float()


@needs_onednn
@pytest.mark.parametrize("arch", ["feedforward", "lstm-attention", "transformer", "lstm"])
def test_a_run_computes_its_layers_and_their_gradients_with_it(
    arch: str, text: Path, tmp_path: Path, counted: list[torch.Size]
) -> None:
    losses = {}
    for library in ("torch", "onednn"):
        settings = {"train.matmul": library, "train.evaluate_every": 20}
        run = api.train(
            text, arch=arch, steps=20, settings=settings, out=tmp_path / library, reporter=Reporter(), **SIZES
        )
        assert bool(counted) == (library == "onednn")
        assert run.results is not None
        losses[library] = run.results.validation["nats_per_token"]
    assert losses["onednn"] == pytest.approx(losses["torch"], abs=1e-3)
    assert len(counted) % 20 == 0, "as many products in each step; evaluations have none"


@pytest.mark.parametrize(("speed", "chosen"), [(2.2, "onednn"), (1.25, "onednn"), (1.2, "torch"), (0.1, "torch")])
def test_the_faster_library_is_said_and_kept(
    speed: float, chosen: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, said = [], Said()

    def known(threads: int) -> float:
        measured.append(threads)
        return speed

    monkeypatch.setattr(choice, "onednn_speed", known)
    monkeypatch.setattr(choice, "has_onednn", lambda: True)
    run = api.train(text, steps=2, out=tmp_path / "r", reporter=said, **SIZES)
    assert run.settings.train.matmul == chosen
    assert any(f"{speed:.1f} times as fast" in line for line in said.messages) == (chosen == "onednn")
    api.resume(tmp_path / "r", 2, Reporter())
    assert measured == [1], "a resumed run keeps the choice"
    again = api.train(text, like=tmp_path / "r", steps=1, out=tmp_path / "again", reporter=Reporter())
    assert again.settings.train.matmul == chosen and len(measured) == 2, "another machine may differ"
    api.train(text, steps=1, settings={"train.matmul": "torch"}, out=tmp_path / "own", reporter=Reporter(), **SIZES)
    assert len(measured) == 2, "what is set is not measured"


def test_a_comparison_chooses_once_for_all_models(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view, said = ProgressView(), []
    monkeypatch.setattr(view, "log", said.append)
    monkeypatch.setattr(choice, "onednn_speed", lambda threads: 3.0)
    monkeypatch.setattr(choice, "has_onednn", lambda: True)
    text.write_text("".join(f"the {number} cats sat on mat {number * 7 % 31}. " for number in range(400)))
    api.compare(
        text, archs="feedforward,rnn", seeds=1, budget="steps=3", match="params=300", tune=0, out=tmp_path / "c",
        settings={"train.threads": 1, "task.window": 8}, view=view,
    )  # fmt: skip
    assert sum("3.0 times as fast" in line for line in said) == 1
    assert [api.load(run).settings.train.matmul for run in (tmp_path / "c" / "runs").iterdir()] == ["onednn"] * 2


@needs_onednn
def test_products_are_timed_once_on_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with the same seed must choose the same library, whatever else the machine does."""
    measured, timed = [], choice.time_products
    monkeypatch.setattr(choice, "time_products", lambda: measured.append(timed()) or measured[-1])
    speeds = []
    for _ in range(2):
        choice.onednn_speed.cache_clear()  # as in another process
        speeds.append(choice.onednn_speed(1))
    assert speeds == [measured[0]] * 2 and measured[0] > 0 and len(measured) == 1
    (kept,) = (Path(os.environ["SEQLAB_CACHE"]) / "matmul").iterdir()
    kept.write_text(kept.read_text().replace("content", "damaged"))
    choice.onednn_speed.cache_clear()
    with pytest.warns(SeqlabWarning, match="the cache is damaged and made anew"):
        assert choice.onednn_speed(1) == measured[1]


def test_what_cannot_apply_is_refused(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"train.matmul": "onednn"}
    with pytest.raises(UsageError, match=r"train\.matmul does nothing: train\.precision is bf16"):
        api.train(text, steps=1, settings={**asked, "train.precision": "bf16"}, out=tmp_path / "r")
    monkeypatch.setattr(choice, "has_onednn", lambda: False)
    with pytest.raises(UsageError, match="this build of torch has no oneDNN"):
        api.train(text, steps=1, settings=asked, out=tmp_path / "r")
    run = api.train(text, steps=1, out=tmp_path / "r", reporter=Reporter(), **SIZES)
    assert run.settings.train.matmul == "torch", "nothing to choose"
