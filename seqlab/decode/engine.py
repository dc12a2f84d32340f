"""What decoders know of an engine: a Generator that writes many tokens in one call. The engines are in engines/."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import State, Trace


@dataclass(frozen=True)
class EngineState(State):
    """The arrays of a compiled token loop, which changes them in place."""

    arrays: tuple[Tensor, ...]

    def copy(self) -> Self:
        return self.map(Tensor.clone)

    @classmethod
    def concat(cls, states: Sequence[Any]) -> Any:
        return states[0].join(states[1:], _stack_with_room)


def _stack_with_room(leaves: tuple[Tensor, ...]) -> Tensor:
    """Rows of all, each axis as long as the longest: room that is not used yet is at the end of its axis."""
    longest = [max(sizes) for sizes in zip(*(leaf.shape[1:] for leaf in leaves), strict=True)]
    grown = [leaf.new_zeros(len(leaf), *longest) for leaf in leaves]
    for room, leaf in zip(grown, leaves, strict=True):
        room[tuple(slice(size) for size in leaf.shape)] = leaf
    return torch.cat(grown)


class Engine(ABC):
    """A Generator whose token loop is compiled. `run` alone changes the State that it is given."""

    vocab_size: int
    limit: int | None

    @abstractmethod
    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, State]: ...

    @abstractmethod
    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]: ...

    @abstractmethod
    def read_in(self, texts: Sequence[Sequence[int]]) -> State:
        """The state after all tokens of each text."""

    @abstractmethod
    def after(self, tokens: int) -> State:
        """As if so many tokens had been read, one row: for measuring, where it does not matter what they were."""

    @abstractmethod
    def with_room(self, state: Any, tokens: int) -> Any:
        """A state that can take in so many tokens more, and that is nobody else's."""

    @abstractmethod
    def sampling(self, settings: Any, banned: Sequence[int]) -> Any:
        """How tokens are chosen, as `run` takes it."""

    @abstractmethod
    def run(
        self,
        state: Any,
        token_B: np.ndarray,
        sampling: Any,
        sequence_B: np.ndarray,
        position_B: np.ndarray,
        seen_BV: np.ndarray,
        length: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Tokens and log-probabilities, (B, length), after the last token of each text, which is new to the state."""
