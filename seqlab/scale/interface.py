"""Plans from plain values, as the command line and Python give them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.errors import UsageError
from seqlab.registry import BACKBONES
from seqlab.scale.cluster import A100_BYTES, A100_FLOPS, ASSUMPTIONS, Cluster
from seqlab.scale.model import CLOSE, SizedModel, model_of_size
from seqlab.scale.plan import ScalePlan, make_plan, most_devices, sequences_of

if TYPE_CHECKING:
    from seqlab.scale.law import ScalingLaw
    from seqlab.scale.trained import LossPerToken, TrainedRuns

SHAPE = ("window", "vocab_size", "layers", "hidden", "batch_tokens")  # the options of a model and its batch


@dataclass(frozen=True)
class ExpectedLoss:
    """What a law says of a plan: nats per token, and the 95% interval."""

    law: "ScalingLaw"
    measured: "LossPerToken"
    loss: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        law = self.law
        fitted = {key: getattr(law, key) for key in ("E", "A", "B", "a", "b", "spread", "explained")}
        return {"loss": self.loss, "low": self.low, "high": self.high, "law": fitted, "runs": len(law.points)}


@dataclass(frozen=True)
class PlannedTraining:
    """A plan, where more devices stop helping and why, and the loss if there are runs to fit."""

    plan: ScalePlan
    asked_batch: int  # sequences
    most_devices: int
    limited_by: str
    expected: ExpectedLoss | None = None

    def as_dict(self) -> dict[str, Any]:
        expected = {} if self.expected is None else {"expected_loss": self.expected.as_dict()}
        scaling = {"most_devices": self.most_devices, "limited_by": self.limited_by}
        return {**self.plan.as_dict(), **scaling, **expected}


def plan(
    arch: str | Sequence[str],
    *,
    params: float,
    tokens: float,
    devices: int | Sequence[int],
    flops_per_device: float = A100_FLOPS,
    memory_per_device: float = A100_BYTES,
    runs: Sequence[str | Path] = (),
    **options: Any,
) -> list[PlannedTraining]:
    """Plan the training of a language model on devices: time, energy, memory, layout, and where scaling stops.

    arch: one name or several; "all" for every architecture. devices: one number or several.
    params, tokens: size of the model, and of the text that it is trained on.
    runs: finished comparisons or runs of the architecture: the loss is extrapolated from them, and the model has their
    tokenizer, vocabulary and window.
    options: window, vocab_size, layers, hidden, batch_tokens, and what is assumed: utilization, bandwidth,
    node_bandwidth, devices_per_node, memory_bandwidth, latency, watts, overhead, usable_memory.

    >>> seqlab.plan("transformer", params=1e9, tokens=2e10, devices=64, flops_per_device=4e14, memory_per_device=80e9)
    """
    if unknown := [name for name in options if name not in (*ASSUMPTIONS, *SHAPE)]:
        known = ", ".join((*SHAPE, *ASSUMPTIONS))
        raise UsageError(f"'{unknown[0]}' is no option of a plan. Known: {known}.")
    shape = {name: value for name, value in options.items() if name in SHAPE and value is not None}
    batch_tokens = shape.pop("batch_tokens", None)
    assumed = {name: value for name, value in options.items() if name in ASSUMPTIONS}
    names = [arch] if isinstance(arch, str) else list(arch)
    names = list(BACKBONES) if names == ["all"] else names
    names = [BACKBONES.canonical(name) for name in names]
    counts = [devices] if isinstance(devices, int) else list(devices)
    for option, given in {"--arch": names, "--devices": counts}.items():
        if len({*given}) < len(given):
            raise UsageError(f"{option} names one of {', '.join(map(str, given))} twice: name each once.")
    planned: list[PlannedTraining] = []
    for name in names:
        trained = _trained(runs, name) if runs else None
        model = model_of_size(name, params, **(shape if trained is None else _shape_of_runs(trained.measured, shape)))
        _refuse_other_size(model, params, shape.get("hidden"))
        expected = None if trained is None else _expected_loss(trained, model.parameters, tokens)
        batch = sequences_of(model, batch_tokens)
        for count in counts:
            cluster = Cluster(count, flops_per_device, memory_per_device, **assumed)
            one = make_plan(model, cluster, tokens, batch)
            planned.append(PlannedTraining(one, batch, *most_devices(model, cluster, batch), expected))
    return planned


def _trained(runs: Sequence[str | Path], arch: str) -> "TrainedRuns":
    from seqlab.scale.trained import trained_runs  # imports torch

    return trained_runs(map(Path, runs), arch)


def _shape_of_runs(measured: "LossPerToken", shape: dict[str, Any]) -> dict[str, Any]:
    """A model whose loss per token is that of the runs; only its window may be another one."""
    given = shape.get("vocab_size", measured.vocab_size)
    if given != measured.vocab_size:
        raise UsageError(
            f"--vocab-size is {given:,}, and the runs have a vocabulary of {measured.vocab_size:,} (tokenizer "
            f"{measured.tokenizer['name']}): a loss per token of another vocabulary is another quantity. Leave the "
            f"option out, or train runs with that vocabulary."
        )
    of_runs = {"vocab_size": measured.vocab_size, "window": measured.window, "tokenizer": measured.tokenizer}
    return {**of_runs, **shape}


def _refuse_other_size(model: SizedModel, params: float, hidden: int | None) -> None:
    """UsageError if a width that the user gives makes another model than the size does."""
    if hidden is not None and abs(model.parameters / params - 1) > CLOSE:
        raise UsageError(
            f"--hidden {hidden} makes {model.arch} a model of {model.parameters:,} parameters, not of {params:g}: give "
            f"--params {model.parameters}, or leave out --hidden."
        )


def _expected_loss(trained: "TrainedRuns", parameters: int, tokens: float) -> ExpectedLoss:
    from seqlab.scale.law import extrapolate, fit_law  # imports scipy

    law = fit_law(trained.points)
    return ExpectedLoss(law, trained.measured, *extrapolate(law, parameters, tokens))
