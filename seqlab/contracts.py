"""The interfaces between packages: states, batches, losses, scores, and the abstract classes.

Names of tensors end in their shape: B batch, T time, S source time, D width, H hidden, V vocabulary, L layers.
Masks are true where a position is kept, and padding is on the right. A returned State is the one after
each row's last kept position; `step` never changes the State it was given; nothing is stored on `self` in `forward`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.config import BackboneSettings
from seqlab.errors import UsageError


@dataclass(frozen=True)
class TensorTree:
    """A tree of tensors, batch first: dataclass fields that are tensors, other trees, tuples of these, or None."""

    def map(self, f: Callable[[Tensor], Tensor]) -> Self:
        """The same tree with `f` applied to every tensor, in a fixed order."""
        return replace(self, **{f_.name: _map(getattr(self, f_.name), f) for f_ in fields(self)})

    def tensors(self) -> list[Tensor]:
        leaves: list[Tensor] = []
        self.map(lambda leaf: leaves.append(leaf) or leaf)
        return leaves

    def join(self, others: Sequence[Self], f: Callable[[tuple[Tensor, ...]], Tensor]) -> Self:
        """The same tree with `f` applied to each tensor together with those at its place in the others."""
        places = zip(self.tensors(), *(other.tensors() for other in others), strict=True)
        return self.map(lambda _: f(next(places)))


@dataclass(frozen=True)
class State(TensorTree):
    """What a model remembers between two tokens; one subclass per family of architectures."""

    lengths_B: Tensor  # tokens that each row has seen

    def select(self, rows_B: Tensor) -> Self:
        """The states of the given rows, in their order; a row may be taken more than once."""
        return self.map(lambda leaf: leaf.index_select(0, rows_B))

    def detach(self) -> Self:
        return self.map(Tensor.detach)

    def to(self, device: torch.device | str) -> Self:
        return self.map(lambda leaf: leaf.to(device))

    @classmethod
    def concat(cls, states: Sequence[Self]) -> Self:
        """One state whose rows are those of all the given ones; what has a time axis is padded to the longest."""
        return states[0].join(states[1:], _stack_rows)


def _stack_rows(leaves: tuple[Tensor, ...]) -> Tensor:
    longest = max((leaf.shape[1] for leaf in leaves if leaf.dim() > 1), default=0)
    padded = [leaf if leaf.dim() == 1 or leaf.shape[1] == longest else _lengthened(leaf, longest) for leaf in leaves]
    return torch.cat(padded)


def _lengthened(leaf: Tensor, length: int) -> Tensor:
    room = leaf.new_zeros(leaf.shape[0], length - leaf.shape[1], *leaf.shape[2:])
    return torch.cat([leaf, room], dim=1)


def _map(value: Any, f: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return f(value)
    if isinstance(value, TensorTree):
        return value.map(f)
    if isinstance(value, tuple):
        return tuple(_map(item, f) for item in value)
    return value


@dataclass(frozen=True)
class Memory:
    """An encoded source, as a decoder reads it."""

    values_BSH: Tensor
    mask_BS: Tensor
    summary_BH: Tensor


@dataclass
class Trace:
    """Collects named inner values while a model runs; passing one makes the plain form run."""

    values: dict[str, list[Tensor]] = field(default_factory=dict)
    scope: str = ""

    def record(self, **named: Tensor) -> None:
        for name, value in named.items():
            self.values.setdefault(f"{self.scope}{name}", []).append(value.detach())

    def within(self, scope: str) -> "Trace":
        """The same collection, with a prefix for what is recorded through it."""
        return Trace(self.values, f"{self.scope}{scope}.")


@dataclass(frozen=True)
class Batch(TensorTree):
    """What one step of training computes from; each kind of task has its own."""

    fresh: bool = field(default=True, kw_only=True)  # no state is carried in

    def to(self, device: torch.device | str) -> Self:
        return self.map(lambda leaf: leaf.to(device))


@dataclass(frozen=True)
class TextBatch(Batch):
    """Inputs and the targets that stand one position later."""

    inputs_BT: Tensor
    targets_BT: Tensor
    mask_BT: Tensor | None = None


@dataclass(frozen=True)
class Loss:
    """A sum over `count` predictions, so that accumulation and ragged batches add up right."""

    total: Tensor
    count: int
    carry: State | None = None


@dataclass(frozen=True)
class Scores:
    """The sums from which every figure on held-out data is computed. Units (U) are in the data's order."""

    nats_U: np.ndarray
    tokens_U: np.ndarray

    @property
    def nats(self) -> float:
        return float(self.nats_U.sum())

    @property
    def tokens(self) -> int:
        return int(self.tokens_U.sum())

    @property
    def loss(self) -> float:
        """Nats per prediction."""
        return self.nats / self.tokens

    @property
    def criterion(self) -> float:
        """By which the best weights of a run are chosen: the lower, the better."""
        return self.loss


@dataclass(frozen=True)
class TextScores(Scores):
    """Of a running text, in windows or stretches."""

    nats_by_position_T: np.ndarray
    tokens_by_position_T: np.ndarray
    characters: int
    bytes: int
    unknown_tokens: int
    unknown_nats: float
    mode: str


class Cell(nn.Module, ABC):
    """The equations of one time step."""

    @abstractmethod
    def start(self, batch: int) -> TensorTree:
        """The state before the first step: zeros."""

    @abstractmethod
    def step(self, x_BD: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, Any]:
        """One input to one output, and the state after it."""


class Backbone(nn.Module, ABC):
    """An architecture: a sequence of vectors in, a sequence of vectors out, and the same one step at a time.

    A subclass names its `Settings`, is built as `Class(settings, inputs)` and has `start` and `forward`. Everything
    else has the default that stands here. `seqlab.testing.check_architecture` checks all of it."""

    Settings: ClassVar[type[BackboneSettings]]
    fast: ClassVar[str] = "torch operations"  # what the fused implementation calls, in words
    carries: bool = True  # whether the State that `forward` is given changes what comes out
    reads_memory: bool = False  # whether `start` takes a Memory: see BackboneSettings.cross_attends
    # Optional, as "module:Class": a compiled token loop (decode/engines/compiled.py) and ONNX operations
    # (exporters/onnx/backbone.py). Without them generation runs the plain loop, and ONNX export is refused.
    compiled_engine: ClassVar[str | None] = None
    onnx_backbone: ClassVar[str | None] = None

    def __init__(self, settings: BackboneSettings, inputs: int):
        super().__init__()
        self.settings = settings
        self.inputs = inputs

    @classmethod
    def declares(cls, name: Literal["compiled_engine", "onnx_backbone"]) -> str | None:
        """What this very class declares. It is not inherited: a subclass may compute something else."""
        return vars(cls).get(name)

    @abstractmethod
    def start(self, batch: int, memory: Memory | None = None) -> State:
        """The state before the first token."""

    @abstractmethod
    def forward(
        self,
        x_BTD: Tensor,
        state: State | None = None,
        mask_BT: Tensor | None = None,
        trace: Trace | None = None,
    ) -> tuple[Tensor, State]:
        """A whole sequence at once; no state means the start. Outputs at padded positions are undefined."""

    def step(self, x_BD: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        """One position, as a sequence of one. UsageError where the architecture is not causal."""
        if not self.causal:
            raise UsageError("a bidirectional model reads the text from both ends, so it cannot go token by token.")
        y_B1H, after = self(x_BD[:, None], state, None, trace)
        return y_B1H[:, 0], after

    def start_limited(self, batch: int, context: int) -> State:
        """A start state from which attention sees at most `context` positions; recurrence is not limited."""
        return self.start(batch)

    def query(self, state: Any) -> Tensor:
        """The state's vector of width `settings.hidden` with which attention before a step asks, where the settings
        declare `state_query`; otherwise attention asks with the last output."""
        raise AssertionError(f"{type(self).__name__} declares state_query and has no query")

    def summarize(self, y_BTH: Tensor, mask_BT: Tensor) -> Tensor:
        """One vector for each row's outputs: the mean of its kept positions, zeros for an empty row."""
        kept_BTH = y_BTH.masked_fill(~mask_BT[:, :, None], 0.0)
        return kept_BTH.sum(1) / mask_BT.sum(1, keepdim=True).clamp(min=1)

    @property
    def width(self) -> int:
        """Width of the output vectors."""
        return self.settings.width

    @property
    def causal(self) -> bool:
        """Whether an output depends on nothing that comes after it."""
        return self.settings.causal

    @property
    def context(self) -> int | None:
        """The most positions that a query sees; None where a state carries everything."""
        return self.settings.option("context", None)

    @property
    def limit(self) -> int | None:
        """The most positions that a sequence can have; None where there is no end."""
        return None

    @property
    def implementation(self) -> str:
        """The computation that `forward` takes, in words."""
        return "the equations, position by position" if self.settings.plain else self.fast

    def state_bytes(self, length: int) -> int:
        """Bytes of one sequence's state after `length` tokens, without `lengths_B`: by default those of the start."""
        start = self.start(1)
        return sum(leaf.nbytes for leaf in start.tensors()) - start.lengths_B.nbytes

    def memory_bytes(self, length: int) -> int:
        """Bytes that a source of `length` positions adds to the state."""
        return 0

    def flops_per_token(self, length: int) -> int:
        """Multiplications and additions of the forward pass per token, in sequences of `length`: by default, every
        matrix is multiplied with one vector per token."""
        return sum(2 * parameter.numel() for parameter in self.parameters() if parameter.dim() == 2)


class AutoregressiveModel(Protocol):
    """What decoders require of a model."""

    @property
    def limit(self) -> int | None:
        """The longest context that it can hold; None if there is no limit."""

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, State]:
        """Prefill: the logits after each row's last token, and the state."""
        ...

    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        """Decode step: the logits_BV after one more token, and the state."""
        ...
