"""The interfaces between packages: states, batches, losses, scores, and the abstract classes.

Tensor names end in their shape: B batch, T time, S source time, D width, H hidden, V vocabulary, L layers. Masks are
true where a position is kept, and padding is on the right. `forward` returns the State after each row's last kept
position and stores nothing on `self`; `step` never changes the State that it is given.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.config import BackboneSettings
from seqlab.errors import UsageError
from seqlab.tracing import Recorded as Recorded
from seqlab.tracing import Trace as Trace
from seqlab.tracing import record as record


@dataclass(frozen=True)
class TensorTree:
    """A tree of tensors, batch first: dataclass fields that are tensors, other trees, tuples of these, or None."""

    def map(self, f: Callable[[Tensor], Tensor]) -> Self:
        """The same tree with `f` applied to every tensor, in a fixed order."""
        return replace(self, **{item.name: _map(getattr(self, item.name), f) for item in fields(self)})

    def tensors(self) -> list[Tensor]:
        leaves: list[Tensor] = []
        self.map(lambda leaf: leaves.append(leaf) or leaf)
        return leaves

    def join(self, others: Sequence[Self], f: Callable[[tuple[Tensor, ...]], Tensor]) -> Self:
        """The same tree with `f` applied to each tensor together with its counterparts in the other trees."""
        counterparts = zip(self.tensors(), *(other.tensors() for other in others), strict=True)
        return self.map(lambda _: f(next(counterparts)))

    def select(self, rows_B: Tensor) -> Self:
        """The given rows, in their order; a row may occur more than once."""
        return self.map(lambda leaf: leaf.index_select(0, rows_B))

    def to(self, device: torch.device | str) -> Self:
        return self.map(lambda leaf: leaf.to(device))


@dataclass(frozen=True)
class State(TensorTree):
    """What a model remembers between two tokens; one subclass per family of architectures."""

    lengths_B: Tensor  # tokens that each row has seen

    def detach(self) -> Self:
        return self.map(Tensor.detach)

    @classmethod
    def concat(cls, states: Sequence[Self]) -> Self:
        """One state with the rows of all states. Shorter axes, such as time, are padded at their end."""
        return states[0].join(states[1:], _concat_padded)


def _concat_padded(leaves: tuple[Tensor, ...]) -> Tensor:
    if len({leaf.shape[1:] for leaf in leaves}) == 1:
        return torch.cat(leaves)
    longest = [max(sizes) for sizes in zip(*(leaf.shape[1:] for leaf in leaves), strict=True)]
    padded = [leaf.new_zeros(len(leaf), *longest) for leaf in leaves]
    for target, leaf in zip(padded, leaves, strict=True):
        target[tuple(slice(size) for size in leaf.shape)] = leaf
    return torch.cat(padded)


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


@dataclass(frozen=True)
class Batch(TensorTree):
    """The input of one training step; each kind of task has its own subclass."""

    fresh: bool = field(default=True, kw_only=True)  # starts without a state from the previous batch

    def part(self, rows: slice) -> Self:
        """Some of its rows, padded as they are; by default the first axis of all tensors."""
        return self.map(lambda leaf: leaf[rows])


@dataclass(frozen=True)
class TextBatch(Batch):
    """Inputs, and as targets the tokens one position later."""

    inputs_BT: Tensor
    targets_BT: Tensor
    mask_BT: Tensor | None = None


@dataclass(frozen=True)
class Loss:
    """A sum over `count` predictions, so that gradient accumulation and ragged batches add up correctly."""

    total: Tensor
    count: int
    carry: State | None = None
    cross_entropy: Tensor | None = None  # summed, detached; where `total` is another loss than the plain cross-entropy


@dataclass(frozen=True)
class Scores:
    """The sums from which every metric on held-out data is computed. Units (U) are in the data's order."""

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
        """Selects the best checkpoint of a run: lower is better."""
        return self.loss


@dataclass(frozen=True)
class TextScores(Scores):
    """Scores of running text; `mode` says how it was divided."""

    nats_by_position_T: np.ndarray
    tokens_by_position_T: np.ndarray
    characters: int
    bytes: int
    unknown_tokens: int
    unknown_nats: float
    mode: str
    spelling_U: np.ndarray | float = 0.0  # nats of spelling unknown tokens, which are no part of nats_U
    segment_U: np.ndarray | None = None  # which segment of a scattered split each unit is in


class Cell(nn.Module, ABC):
    """The equations of one time step."""

    records: ClassVar[Mapping[str, Recorded]] = {}  # what `step` records

    @abstractmethod
    def start(self, batch: int) -> TensorTree:
        """The state before the first step: zeros."""

    @abstractmethod
    def step(self, x_BD: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, Any]:
        """The output for one input, and the state after it."""


class Backbone(nn.Module, ABC):
    """An architecture: maps a sequence of vectors to a sequence of vectors, all at once or one step at a time.

    A subclass names its `Settings`, is built as `Class(settings, inputs)` and implements `start` and `forward`.
    Everything else has a default. `seqlab.testing.check_architecture` checks all of it."""

    Settings: ClassVar[type[BackboneSettings]]
    fast: ClassVar[str] = "torch operations"  # what the fused implementation calls, in words
    carries: bool = True  # whether the State that `forward` gets changes its output
    recomputes: bool = False  # whether `forward` calls its layers by `seqlab.recomputation.call_layer`
    reads_memory: bool = False  # whether `start` takes a Memory: see BackboneSettings.cross_attends
    # "module:Class" of decode/engines/compiled.py and exporters/onnx/backbone.py; without: the plain loop, and no ONNX
    compiled_engine: ClassVar[str | None] = None
    onnx_backbone: ClassVar[str | None] = None

    def __init__(self, settings: BackboneSettings, inputs: int):
        super().__init__()
        self.settings, self.inputs = settings, inputs

    @property
    def records(self) -> Mapping[str, Recorded]:
        """What `forward` and `step` record if they get a trace, by name: see tracing.py. By default nothing."""
        return {}

    @classmethod
    def declares(cls, name: Literal["compiled_engine", "onnx_backbone"]) -> str | None:
        """What this class itself declares. Subclasses do not inherit it: they may compute something else."""
        return vars(cls).get(name)

    @abstractmethod
    def start(self, batch: int, memory: Memory | None = None) -> State:
        """The state before the first token."""

    @abstractmethod
    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, State]:
        """A whole sequence at once, from the start state by default. Outputs at padded positions are undefined."""

    def step(self, x_BD: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        """One position, as a sequence of one. UsageError if the architecture is not causal."""
        self.require_causal()
        y_B1H, after = self(x_BD[:, None], state, None, trace)
        return y_B1H[:, 0], after

    def require_causal(self) -> None:
        if not self.causal:
            raise UsageError("a bidirectional model reads the text from both ends, so it cannot go token by token.")

    def zero_lengths(self, batch: int) -> Tensor:
        """`lengths_B` of a start state."""
        return torch.zeros(batch, dtype=torch.long, device=next(self.parameters()).device)

    def start_limited(self, batch: int, context: int) -> State:
        """A start state from which attention sees at most `context` positions; recurrence is not limited."""
        return self.start(batch)

    def query(self, state: Any) -> Tensor:
        """The query of attention before a step, of width `settings.hidden`, if the settings declare `state_query`;
        otherwise the last output is the query."""
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
        """Whether an output depends only on inputs up to its own position."""
        return self.settings.causal

    @property
    def context(self) -> int | None:
        """The most positions that a query sees; None if the state carries everything."""
        return self.settings.option("context", None)

    @property
    def limit(self) -> int | None:
        """The longest sequence that it can process; None if there is no limit."""
        return None

    @property
    def implementation(self) -> str:
        """What `forward` computes with, in words."""
        return "the equations, position by position" if self.settings.plain else self.fast

    def state_bytes(self, length: int) -> int:
        """Bytes of one sequence's state after `length` tokens, without `lengths_B`; by default those of `start`."""
        start = self.start(1)
        return sum(leaf.nbytes for leaf in start.tensors()) - start.lengths_B.nbytes

    def memory_bytes(self, length: int) -> int:
        """Bytes that a source of `length` positions adds to the state."""
        return 0

    def flops_per_token(self, length: int) -> int:
        """Multiplications and additions of the forward pass per token, in sequences of `length`. By default, every
        matrix is multiplied by one vector per token."""
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
