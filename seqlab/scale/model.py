"""A language model of a given size, and what a token of it costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seqlab.config import RunSettings, VocabSizes, build_settings
from seqlab.errors import UsageError
from seqlab.models.parameter_count import parameters
from seqlab.registry import BACKBONES, TASKS
from seqlab.scale.cluster import VOCAB_SIZE, WINDOW

FORWARD_AND_BACKWARD = 3  # times the FLOPs of the forward pass: the backward pass has two products for each of its own
RECOMPUTED = 4  # with the forward pass computed twice
CLOSE = 0.1  # how far the model may be from the size that was asked for
ASPECT = 100  # width per layer of a deep model: of GPT-3 and LLaMA, 85 to 130
HEAD = 128  # width of an attention head
STACKED = 4  # layers of an architecture that goes through time, where depth costs more steps
LEAST, MOST = 1e5, 1e13  # parameters


@dataclass(frozen=True)
class SizedModel:
    """Settings of a language model, and its vocabulary."""

    settings: RunSettings
    vocab_size: int

    @property
    def arch(self) -> str:
        return self.settings.backbone.name

    @property
    def length(self) -> int:
        return self.settings.task.settings.sequence_length

    @cached_property
    def parameters(self) -> int:
        return parameters(self.settings, self.vocab_size).total

    @cached_property
    def forward_flops(self) -> int:
        """Of one token, with the output layer."""
        import torch

        with torch.device("meta"):  # only shapes are needed
            model = TASKS.load(self.settings.task.name).build(self.settings, VocabSizes(self.vocab_size))
        return model.flops_per_token(self.length)

    def flops_per_token(self, recompute: bool = False) -> int:
        """Forward and backward."""
        return self.forward_flops * (RECOMPUTED if recompute else FORWARD_AND_BACKWARD)

    @property
    def sequential_steps(self) -> int:
        """Steps of the forward pass, each of which waits for the one before."""
        return self.settings.backbone.settings.sequential_steps(self.length)


def model_of_size(
    arch: str,
    size: float,
    vocab_size: int = VOCAB_SIZE,
    window: int = WINDOW,
    layers: int | None = None,
    hidden: int | None = None,
    tokenizer: Mapping[str, Any] | None = None,
) -> SizedModel:
    """The model of an architecture with about `size` parameters; `layers` and `hidden` set its shape. `tokenizer` are
    its settings, by default those of bpe with this vocabulary."""
    if not LEAST <= size <= MOST:
        raise UsageError(f"--params is {size:g}: expected {LEAST:g} to {MOST:g} parameters.")
    arch = BACKBONES.canonical(arch)
    tokenizer = tokenizer or {"name": "bpe", "vocab_size": min(vocab_size, 2**24)}

    def of_width(width: int) -> SizedModel:
        return SizedModel(_settings(arch, width, layers or _layers(arch, width), window, tokenizer), vocab_size)

    if hidden is not None:
        return of_width(hidden)
    low, high = 1, 65_536 // _unit(arch)
    while low < high:  # the widest that is not above the size
        middle = (low + high + 1) // 2
        if of_width(middle * _unit(arch)).parameters <= size:
            low = middle
        else:
            high = middle - 1
    near = [of_width(max(1, low + step) * _unit(arch)) for step in (0, 1)]
    best = min(near, key=lambda model: abs(model.parameters - size))
    if abs(best.parameters / size - 1) > CLOSE:
        raise UsageError(
            f"no {arch} with a vocabulary of {vocab_size:,} has about {size:g} parameters; the nearest has "
            f"{best.parameters:,}. Give another --params, --vocab-size, or --hidden and --layers."
        )
    return best


def _is_deep(arch: str) -> bool:
    """Whether layers, not positions, wait for each other."""
    settings = BACKBONES.settings(arch)
    return settings.has("heads")


def _unit(arch: str) -> int:
    return HEAD if _is_deep(arch) else 16


def _layers(arch: str, hidden: int) -> int:
    if not _is_deep(arch):
        return min(STACKED, _most_layers(arch))
    return max(2, min(256, round(hidden / ASPECT)))


def _most_layers(arch: str) -> int:
    """1 for an architecture without a stack."""
    try:
        BACKBONES.settings(arch)(layers=STACKED)
    except ValueError:
        return 1
    return STACKED


def _settings(arch: str, hidden: int, layers: int, length: int, tokenizer: Mapping[str, Any]) -> RunSettings:
    task = "language" if BACKBONES.settings(arch)().causal else "masked"
    changes: list[tuple[str, Any]] = [
        ("task.name", task),
        ("task.window", length),
        *((f"tokenizer.{key}", value) for key, value in tokenizer.items()),
        ("backbone.name", arch),
        ("backbone.hidden", min(hidden, 65_536)),
        ("backbone.layers", layers),
        ("model.embedding", min(hidden, 65_536)),
        ("model.tie_embeddings", False),
        ("train.precision", "bf16"),
        ("train.optimizer", "adamw"),
    ]
    if _is_deep(arch):
        changes.append(("backbone.heads", max(1, math.gcd(hidden, hidden // HEAD or 1))))
    return build_settings({"corpus": {"source": ["TEXT"]}}, changes)
