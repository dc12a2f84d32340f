"""bfloat16 in training: what stays float32, what is measured, chosen, refused and recorded."""

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from train_cases import TEXT, Said, run_settings, task_and_model

from seqlab import api
from seqlab.backbones.recurrent import Lstm
from seqlab.cells.lstm import LstmCell
from seqlab.config import TrainSettings, resolve
from seqlab.errors import UsageError
from seqlab.precision import lstm_rounds, training_precision
from seqlab.registry import BACKBONES
from seqlab.tasks.contrastive import encode_in_chunks
from seqlab.testing.architecture import architecture_checks
from seqlab.testing.cases import INPUTS, ArchitectureCase, mask_of, vectors
from seqlab.training import precision as measured
from seqlab.training.progress import Reporter
from seqlab.training.step import TrainingStep

CASES = [case for name in BACKBONES for case, _ in architecture_checks(BACKBONES.load(name))]
SMALL: dict[str, Any] = {"hidden": 12, "embedding": 8, "window": 16, "batch_size": 4, "threads": 1, "sample_tokens": 0}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT * 5, encoding="utf-8")
    return path


def speed_is(monkeypatch: pytest.MonkeyPatch, speed: float) -> list[str]:
    """Make bf16 so many times as fast; the returned list grows with each measurement."""
    calls: list[str] = []

    def known(model: Any, task: Any, train: TrainSettings) -> float:
        calls.append(train.precision)
        return speed

    monkeypatch.setattr(measured, "bf16_speed", known)
    monkeypatch.setattr(measured, "disturbance", lambda *_: None)
    return calls


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_architecture_computes_nearly_the_same_and_returns_float32(case: ArchitectureCase) -> None:
    """With a state, with padding, forward and backward: rounding to 8 bits may change a value by a few percent."""
    lengths = [4, 2, 4]
    results = []
    for rounds in (False, True):
        backbone = case.build()
        with torch.autocast("cpu", torch.bfloat16, enabled=rounds):
            y_BTH, state = backbone(vectors(3, 4, INPUTS), case.start(backbone, 3), mask_of(lengths, 4))
            y_BTH, state = backbone(vectors(3, 2, INPUTS, seed=5), state)
        y_BTH.square().sum().backward()
        gradients = torch.cat([p.grad.flatten() for p in backbone.parameters() if p.grad is not None])
        assert gradients.dtype == torch.float32
        assert y_BTH.dtype == torch.float32
        results.append((y_BTH.detach(), gradients))
    (y_BTH, gradients), (rounded_BTH, rounded) = results
    assert torch.linalg.vector_norm(rounded_BTH - y_BTH) <= 0.05 * torch.linalg.vector_norm(y_BTH)
    assert torch.linalg.vector_norm(rounded - gradients) <= 0.1 * torch.linalg.vector_norm(gradients)
    assert len(rounded) == len(gradients)  # every weight that has a gradient in float32 has one in bf16
    # a stack of LSTM kernels alone stays float32 where the processor has no bfloat16 form of the kernel
    only_lstm = all(isinstance(module, Lstm | LstmCell | torch.nn.ModuleList) for module in backbone.modules())
    if not only_lstm or lstm_rounds():
        assert not torch.equal(rounded, gradients), "nothing was rounded"


@pytest.mark.parametrize("arch", list(BACKBONES.compared()))
def test_weights_moments_and_carried_states_stay_float32(arch: str) -> None:
    tables = run_settings(batching="stream", precision="bf16").resolved()
    settings = resolve({**tables, "backbone": {"name": arch, "hidden": 16}})
    task, model = task_and_model(settings)
    training = TrainingStep(model, task, settings.train)
    for step in range(3):
        assert math.isfinite(training.gradients(step).loss_sum)
        training.update()
    assert training.carry is not None
    moments = [value for state in training.optimizer.state.values() for value in state.values()]
    for tensor in [*model.parameters(), *moments, *training.carry.tensors()]:
        assert tensor.dtype in (torch.float32, torch.int64)
    assert not torch.is_autocast_enabled("cpu")


def test_evaluations_are_in_float32(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored loss of a run trained in bf16 is that of its weights in float32."""
    speed_is(monkeypatch, 2.0)
    run = api.train(text, out=tmp_path / "run", reporter=Reporter(), precision="bf16", steps=4, **SMALL)
    assert run.results is not None
    task, model = run.task(), copy.deepcopy(run.model)
    assert task.score(model, "validation").loss == pytest.approx(run.results.criterion, rel=1e-6)
    assert all(parameter.dtype == torch.float32 for parameter in model.parameters())


@pytest.mark.parametrize(("speed", "chosen"), [(1.5, "bf16"), (1.15, "bf16"), (1.14, "float32"), (0.4, "float32")])
def test_auto_takes_what_is_measured_to_be_faster_says_and_records_it(
    speed: float, chosen: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, said = speed_is(monkeypatch, speed), Said()
    run = api.train(text, out=tmp_path / "run", reporter=said, precision="auto", steps=3, **SMALL)
    assert (run.settings.train.precision, run.settings.train.bf16_speed) == (chosen, speed)
    stored = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["train"]
    assert (stored["precision"], stored["bf16_speed"]) == (chosen, speed)
    (message,) = [one for one in said.messages if "bf16" in one]
    assert f"{speed:.2f} times as fast" in message and f"training in {chosen}" in message
    api.resume(tmp_path / "run", 2, Reporter())
    assert len(calls) == 1, "a resumed run keeps the choice"


def test_a_busy_machine_is_said(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speed_is(monkeypatch, 2.0)
    monkeypatch.setattr(measured, "disturbance", lambda *_: "The machine is busy.")
    said = Said()
    api.train(text, out=tmp_path / "run", reporter=said, precision="auto", steps=1, **SMALL)
    assert "The machine is busy." in said.messages
    speed_is(monkeypatch, 0.3)
    monkeypatch.setattr(measured, "disturbance", lambda *_: "The machine is busy.")
    with pytest.raises(UsageError, match=r"which is slower here: .* The machine is busy"):
        api.train(text, out=tmp_path / "other", precision="bf16", steps=1, **SMALL)


def test_settings_of_a_run_are_measured_anew(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = speed_is(monkeypatch, 1.5)
    api.train(text, out=tmp_path / "run", reporter=Reporter(), precision="auto", steps=2, **SMALL)
    again = api.train(text, out=tmp_path / "again", reporter=Reporter(), like=tmp_path / "run", steps=2)
    assert (again.settings.train.precision, len(calls)) == ("bf16", 2)


def test_bf16_is_refused_where_it_is_slower_with_the_number(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speed_is(monkeypatch, 0.31)
    with pytest.raises(UsageError, match=r"slower here: a step in bf16 is 0\.31 times as fast"):
        api.train(text, out=tmp_path / "run", reporter=Reporter(), precision="bf16", steps=2, **SMALL)
    assert not (tmp_path / "run").exists()


def test_the_measured_speed_is_no_choice(text: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="bf16_speed does nothing: it is measured"):
        api.train(text, out=tmp_path / "run", reporter=Reporter(), bf16_speed=2.0, steps=2, **SMALL)


def test_float32_measures_nothing_and_unknown_precisions_are_refused(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = speed_is(monkeypatch, 9.0)
    run = api.train(text, out=tmp_path / "run", reporter=Reporter(), steps=2, **SMALL)
    assert (run.settings.train.precision, calls) == ("float32", [])
    with pytest.raises(UsageError, match=r"train\.precision"):
        api.train(text, out=tmp_path / "other", reporter=Reporter(), precision="float16", steps=2, **SMALL)


def test_steps_are_timed_on_copies() -> None:
    settings = run_settings()
    task, model = task_and_model(settings)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    assert measured.bf16_speed(model, task, settings.train) > 0
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_what_is_computed_again_for_a_gradient_is_rounded_again(precision: str) -> None:
    """Gradient caching encodes a chunk twice, the second time in the backward pass."""
    encoder = Rounded()
    with training_precision(precision, torch.device("cpu")):
        vectors_BD = encode_in_chunks(encoder, vectors(6, 6), None, 2)
    vectors_BD.float().sum().backward()
    assert encoder.seen == [precision == "bf16"] * 6
    assert encoder.linear.weight.grad is not None and bool(encoder.linear.weight.grad.any())


class Rounded(torch.nn.Module):
    """An encoder that keeps whether its products were rounded."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(6, 4)
        self.seen: list[bool] = []

    def forward(self, x_BD: torch.Tensor, mask: None) -> torch.Tensor:
        y_BD = self.linear(x_BD)
        self.seen.append(y_BD.dtype == torch.bfloat16)
        return y_BD


def test_without_a_bfloat16_kernel_an_lstm_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor whose LSTM kernel refuses bfloat16."""
    monkeypatch.setattr("seqlab.precision.lstm_rounds", lambda: False)
    cell = LstmCell(3, 4)
    x_BTD = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    expected, _ = cell.fused(x_BTD, cell.start(2))
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(cell.fused(x_BTD, cell.start(2))[0], expected)
