"""R9: what is not finite is caught before the optimizer's step; the weights stay as they were."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from reliability_runs import TINY_OPTIONS, Answer, lines, train
from torch import Tensor

from seqlab import api
from seqlab.contracts import Loss, State, TextBatch
from seqlab.errors import SeqlabWarning, TrainingFailed
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.language import LanguageTask
from seqlab.training.progress import Reporter

Spoil = Callable[[LanguageModel, Loss], Loss]
ORIGINAL = LanguageTask.loss


def spoilt_loss(model: LanguageModel, loss: Loss) -> Loss:
    return replace(loss, total=loss.total * math.nan)


def infinite_loss(model: LanguageModel, loss: Loss) -> Loss:
    return replace(loss, total=loss.total + math.inf)


def spoilt_gradient(model: LanguageModel, loss: Loss) -> Loss:
    """The loss is finite and its derivative is not."""
    return replace(loss, total=loss.total + (0 * model.output.bias).sqrt().sum())


def huge_gradient(model: LanguageModel, loss: Loss) -> Loss:
    """Every element is finite, but not their norm."""
    return replace(loss, total=loss.total + (model.output.bias * 3e37).sum())


def spoilt_input(model: LanguageModel, loss: Loss) -> Loss:
    """As if the vectors that the backbone reads had gone wrong."""
    tokens_BT = torch.zeros(1, 3, dtype=torch.long)
    y_BTH, _ = model.backbone(model.embedding(tokens_BT) * math.nan)
    return replace(loss, total=loss.total + y_BTH.sum())


def spoilt_carry(model: LanguageModel, loss: Loss) -> Loss:
    assert loss.carry is not None
    return replace(loss, carry=loss.carry.map(lambda leaf: leaf * math.nan if leaf.is_floating_point() else leaf))


class Injection:
    """Puts something not finite into the losses of some steps (counted from 1), and watches the weights."""

    def __init__(self, spoil: Spoil, steps: set[int]):
        self.spoil, self.steps = spoil, steps
        self.before: dict[int, list[Tensor]] = {}

    def loss(self, task: LanguageTask, model: LanguageModel, batch: TextBatch, carry: State | None, step: int) -> Loss:
        assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
        self.before[step + 1] = [p.detach().clone() for p in model.parameters()]
        loss = ORIGINAL(task, model, batch, carry, step)
        return self.spoil(model, loss) if step + 1 in self.steps else loss

    def unchanged_by(self, step: int) -> bool:
        after = self.before.get(step + 1)
        return after is not None and all(map(torch.equal, self.before[step], after))


@pytest.fixture
def inject(monkeypatch: pytest.MonkeyPatch) -> Callable[[Spoil, set[int]], Injection]:
    def begin(spoil: Spoil, steps: set[int]) -> Injection:
        injection = Injection(spoil, steps)
        monkeypatch.setattr(LanguageTask, "loss", lambda task, *arguments: injection.loss(task, *arguments))
        return injection

    return begin


class Listener(Reporter):
    def __init__(self) -> None:
        self.said: list[str] = []

    def log(self, message: str) -> None:
        self.said.append(message)


KINDS: dict[str, tuple[Spoil, str]] = {
    "loss": (spoilt_loss, "the loss"),
    "infinite loss": (infinite_loss, "the loss"),
    "gradient": (spoilt_gradient, "the gradient of 'output.bias'"),
    "huge gradient": (huge_gradient, "the gradient norm"),
    "input": (spoilt_input, "the loss"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_single_one_is_left_out(
    kind: str, accumulate: int, text: Path, tmp_path: Path, inject: Callable[..., Injection]
) -> None:
    spoil, where = KINDS[kind]
    injection, listener = inject(spoil, {3}), Listener()
    run = train(text, tmp_path / "run", listener, steps=6, accumulate=accumulate, lr=0.01)
    assert injection.unchanged_by(3)
    assert not injection.unchanged_by(2) and not injection.unchanged_by(4)
    assert [said for said in listener.said if where in said and said.startswith("step 3:")]
    assert [line["step"] for line in lines(run) if "lr" in line] == [1, 2, 3, 4, 5, 6]
    assert all(bool(torch.isfinite(p).all()) for p in api.load(run).model.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_in_a_row_end_the_run(
    kind: str, text: Path, tmp_path: Path, inject: Callable[..., Injection], command: Callable[..., Answer]
) -> None:
    """Three may be left out; the fourth is an end. What was trained before is kept."""
    spoil, where = KINDS[kind]
    injection = inject(spoil, {5, 6, 7, 8})
    options = [*TINY_OPTIONS, "--steps", "12", "--evaluate-every", "4"]
    answer = command("train", text, "--out", tmp_path / "run", *options)
    assert answer.code == 70
    assert "step 8:" in answer.err and where in answer.err and "4 times in a row" in answer.err
    assert all(injection.unchanged_by(step) for step in (5, 6, 7))
    with pytest.warns(SeqlabWarning, match="is not finished"):
        assert api.load(tmp_path / "run").generate("the ", 4)
    inject(spoil, set())
    assert command("resume", tmp_path / "run").code == 0


def test_retries_are_counted_in_a_row(text: Path, tmp_path: Path, inject: Callable[..., Injection]) -> None:
    inject(spoilt_loss, {2, 4, 6, 8})
    train(text, tmp_path / "run", steps=9, max_skipped=1)
    inject(spoilt_loss, {3})
    with pytest.raises(TrainingFailed, match="step 3:"):
        train(text, tmp_path / "strict", steps=9, max_skipped=0)


def test_weights_that_are_not_finite_are_named(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(task: LanguageTask, model: LanguageModel, *rest: object) -> Loss:
        with torch.no_grad():
            dict(model.named_parameters())["backbone.cells.0.weight_hh"][0, 0] = math.nan
        return ORIGINAL(task, model, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(LanguageTask, "loss", loss)
    with pytest.raises(TrainingFailed, match=r"step 4: weight 'backbone\.cells\.0\.weight_hh' is not a finite number"):
        train(text, tmp_path / "run", steps=9)


def test_what_is_carried_on_is_dropped_with_the_step(
    text: Path, tmp_path: Path, inject: Callable[..., Injection]
) -> None:
    """A state that is not finite spoils the next step; after that one begins afresh."""
    inject(spoilt_carry, {2})
    listener = Listener()
    run = train(text, tmp_path / "run", listener, steps=6, batching="stream")
    assert sum("not a finite number" in said for said in listener.said) == 1
    assert [line["loss"] is None for line in lines(run) if "lr" in line] == [False, False, True, False, False, False]


def test_a_first_evaluation_that_is_not_finite_is_not_the_best_for_ever(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, calls = LanguageTask.score, []

    def spoilt(task: LanguageTask, *arguments: object, **options: object) -> object:
        calls.append(1)
        scores = score(task, *arguments, **options)  # pyright: ignore[reportArgumentType]
        return replace(scores, nats_U=scores.nats_U * math.nan) if len(calls) == 1 else scores

    monkeypatch.setattr(LanguageTask, "score", spoilt)
    results = api.load(train(text, tmp_path / "run", steps=6, evaluate_every=2)).results
    assert results is not None and results.best_step > 2
