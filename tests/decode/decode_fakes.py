"""Generators small enough to be searched exhaustively: their whole memory of a context is one number."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.contracts import State, TensorTree, Trace


@dataclass(frozen=True)
class Numbers(TensorTree):
    """A source: one number for each row."""

    number_B: Tensor


@dataclass(frozen=True)
class Digest(State):
    """A hash of all tokens read so far."""

    hash_B: Tensor


@dataclass
class Hashing:
    """Logits are a row of a table, chosen by a hash of the whole context; with `memory` 0, by the last token alone.

    A source adds its number to the hash. Everything fed is written down, and the limit is enforced.
    """

    table_NV: Tensor
    memory: int = 31
    limit: int | None = None
    reads: list[list[list[int]]] = field(default_factory=list)
    steps: list[list[int]] = field(default_factory=list)

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, Digest]:
        rows = [tokens[:length] for tokens, length in zip(tokens_BT.tolist(), lengths_B.tolist(), strict=True)]
        self.reads.append(rows)
        starts = torch.zeros(len(rows), dtype=torch.long) if source is None else source.number_B
        assert len(starts) == len(rows)
        hashes = [self.hash_of(row, start) for row, start in zip(rows, starts.tolist(), strict=True)]
        return self._answer(Digest(lengths_B, torch.tensor(hashes)))

    def step(self, token_B: Tensor, state: Digest, trace: Trace | None = None) -> tuple[Tensor, Digest]:
        self.steps.append(token_B.tolist())
        return self._answer(
            Digest(state.lengths_B + 1, (state.hash_B * self.memory + token_B + 1) % len(self.table_NV))
        )

    def hash_of(self, tokens: Sequence[int], start: int = 0) -> int:
        digest = start
        for token in tokens:
            digest = (digest * self.memory + token + 1) % len(self.table_NV)
        return digest

    def logprobs(self, context: Sequence[int], start: int = 0) -> np.ndarray:
        """What the model says after a context, computed without its state."""
        return self.table_NV[self.hash_of(context, start)].double().log_softmax(0).numpy()

    def _answer(self, state: Digest) -> tuple[Tensor, Digest]:
        if self.limit is not None and int(state.lengths_B.max()) > self.limit:
            raise IndexError(f"{state.lengths_B.tolist()} exceed the limit {self.limit}")
        return self.table_NV[state.hash_B], state


def hashing(vocab_size: int, seed: int = 0, **options: Any) -> Hashing:
    generator = torch.Generator().manual_seed(seed)
    return Hashing(2 * torch.randn(97, vocab_size, generator=generator), **options)


@dataclass(frozen=True)
class Hidden(State):
    h_BH: Tensor


class TinyGru(nn.Module):
    """A real model in double precision, so that the batch size cannot change a choice."""

    limit: int | None = None

    def __init__(self, vocab_size: int, hidden: int = 12):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(5)
            self.embedding = nn.Embedding(vocab_size, hidden, dtype=torch.float64)
            self.cell = nn.GRUCell(hidden, hidden, dtype=torch.float64)
            self.head = nn.Linear(hidden, vocab_size, dtype=torch.float64)
        self.head.weight.data *= 6

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, Hidden]:
        h_BH = self.embedding.weight.new_zeros(len(tokens_BT), self.cell.hidden_size)
        for t, token_B in enumerate(tokens_BT.T):
            h_BH = torch.where((t < lengths_B)[:, None], self.cell(self.embedding(token_B), h_BH), h_BH)
        return self.head(h_BH), Hidden(lengths_B, h_BH)

    def step(self, token_B: Tensor, state: Hidden, trace: Trace | None = None) -> tuple[Tensor, Hidden]:
        h_BH = self.cell(self.embedding(token_B), state.h_BH)
        return self.head(h_BH), Hidden(state.lengths_B + 1, h_BH)
