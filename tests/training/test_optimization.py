"""Schedules against their formulas, groups of parameters, clipping against torch."""

import math
import subprocess
import sys
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from train_cases import run_settings, task_and_model

from seqlab.config import TrainSettings
from seqlab.training.optimization import clip, learning_rate, make_optimizer

SCHEDULES = ["constant", "cosine", "linear", "plateau"]


def rates(steps: int, **settings: Any) -> list[float]:
    train = TrainSettings(**settings)
    return [learning_rate(train, step, steps) for step in range(steps)]


def test_decay_is_constant_for_some_epochs_and_then_falls_once_per_epoch() -> None:
    """After two epochs of 2.5 steps at the peak: steps 0 to 4 at 1, 5 to 7 at 0.5, 8 and 9 at 0.25, ..."""
    settings = TrainSettings(lr=1.0, schedule="decay", decay_after=2, decay=0.5, warmup=0)
    rates = [learning_rate(settings, step, 12, epoch_steps=2.5) for step in range(12)]
    assert rates == [1.0] * 5 + [0.5] * 3 + [0.25] * 2 + [0.125] * 2


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_warmup_rises_in_equal_steps_to_the_peak(schedule: Any) -> None:
    result = rates(100, schedule=schedule, warmup=10, lr=0.2)
    assert result[:10] == pytest.approx([0.02 * step for step in range(1, 11)])
    assert result[10] == pytest.approx(0.2)


def test_constant_stays() -> None:
    assert rates(50, schedule="constant", warmup=0, lr=0.1) == [0.1] * 50


def test_cosine_is_half_a_cosine_down_to_the_last_share() -> None:
    actual = rates(110, schedule="cosine", warmup=10, lr=1.0, final_lr=0.1)
    expected = [0.1 + 0.9 * (1 + math.cos(math.pi * step / 100)) / 2 for step in range(100)]
    assert actual[10:] == pytest.approx(expected)
    assert actual[60] == pytest.approx(0.55)  # half way


def test_linear_falls_in_equal_steps() -> None:
    result = rates(110, schedule="linear", warmup=10, lr=1.0, final_lr=0.2)
    assert result[10:] == pytest.approx([1 - 0.8 * step / 100 for step in range(100)])


def test_cosine_is_torchs_own() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.3)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40, eta_min=0.3 * 0.05)
    for ours in rates(40, schedule="cosine", warmup=0, lr=0.3, final_lr=0.05):
        assert ours == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()


def test_plateau_multiplies_what_it_has_come_down_to() -> None:
    settings = TrainSettings(schedule="plateau", warmup=0, lr=0.4)
    assert [learning_rate(settings, 5, 10, share) for share in (1.0, 0.5, 0.25)] == pytest.approx([0.4, 0.2, 0.1])


@given(
    steps=st.integers(1, 500),
    warmup=st.integers(0, 500),
    schedule=st.sampled_from(SCHEDULES),
    final_lr=st.floats(0, 1),
)
def test_every_rate_is_positive_and_at_most_the_peak(steps: int, warmup: int, schedule: Any, final_lr: float) -> None:
    result = rates(steps, warmup=warmup, schedule=schedule, final_lr=final_lr, lr=0.5)
    assert all(0 <= rate <= 0.5 * (1 + 1e-9) for rate in result)
    assert all(rate > 0 for rate in result[:-1])
    top = result.index(max(result))
    assert result[top:] == sorted(result[top:], reverse=True)  # never up again
    assert top <= steps / 5  # a warmup longer than the run is cut short


@pytest.mark.parametrize("name", ["adam", "adamw", "muon", "sgd", "rmsprop"])
def test_weight_decay_is_for_matrices_only(name: Any) -> None:
    """With no gradient to follow, only what decays gets smaller."""
    settings = run_settings(optimizer=name, weight_decay=0.5, lr=0.1)
    _, model = task_and_model(settings)
    before = {key: p.detach().clone() for key, p in model.named_parameters()}
    optimizer = make_optimizer(model, settings.train)
    assert {id(p) for group in optimizer.param_groups for p in group["params"]} == {id(p) for p in model.parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for key, parameter in model.named_parameters():
        changed = not torch.equal(parameter, before[key])
        assert changed == (parameter.dim() >= 2), key


def gradients(seed: int) -> list[nn.Parameter]:
    draw = torch.Generator().manual_seed(seed)
    parameters = [nn.Parameter(torch.zeros(shape)) for shape in ((3, 4), (5,), ())]
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=draw) * 10
    return [*parameters, nn.Parameter(torch.zeros(2))]  # the last has no gradient


@pytest.mark.parametrize("limit", [0.5, 1.0, 1e6])
def test_clipping_by_norm_is_torchs(limit: float) -> None:
    ours, theirs = gradients(1), gradients(1)
    norm = clip(ours, TrainSettings(clip_norm=limit))
    assert norm == pytest.approx(float(torch.nn.utils.clip_grad_norm_(theirs, limit)))
    for a, b in zip(ours, theirs, strict=True):
        assert (a.grad is None and b.grad is None) or torch.equal(a.grad, b.grad)  # pyright: ignore[reportArgumentType]


def test_clipping_by_value_comes_before_that_by_norm_and_the_norm_is_from_before() -> None:
    ours, theirs = gradients(2), gradients(2)
    before = math.sqrt(sum(float((p.grad**2).sum()) for p in theirs if p.grad is not None))
    norm = clip(ours, TrainSettings(clip_norm=None, clip_value=0.25))
    torch.nn.utils.clip_grad_value_(theirs, 0.25)
    assert norm == pytest.approx(before)
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(ours[:3], theirs[:3], strict=True))  # pyright: ignore[reportArgumentType]


def test_without_limits_nothing_is_clipped() -> None:
    ours = gradients(3)
    clip(ours, TrainSettings(clip_norm=None, clip_value=None))
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(ours[:3], gradients(3)[:3], strict=True))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_told_and_left(bad: float) -> None:
    ours = gradients(4)
    assert ours[1].grad is not None
    ours[1].grad[2] = bad
    assert not math.isfinite(clip(ours, TrainSettings(clip_norm=1.0, clip_value=0.1)))
    assert ours[0].grad is not None and bool(torch.isfinite(ours[0].grad).all())
    assert not bool(torch.isfinite(ours[1].grad).all())


WITHOUT_COMPILER = """
import sys, torch
from seqlab.config import TrainSettings
from seqlab.training.optimization import make_optimizer
model = torch.nn.Linear(2, 2)
for name in ("adam", "adamw", "muon", "sgd", "rmsprop"):
    optimizer = make_optimizer(model, TrainSettings(optimizer=name))
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
assert "torch._dynamo" not in sys.modules
"""


def test_optimizers_do_not_import_the_compiler_of_torch() -> None:
    """It takes as long as importing torch."""
    subprocess.run([sys.executable, "-c", WITHOUT_COMPILER], check=True)
