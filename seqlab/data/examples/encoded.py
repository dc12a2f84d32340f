"""Examples as ids, and their batches: similar lengths together, padded to the longest of the batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from seqlab.data.batching import POOL_BATCHES, LengthBuckets, cut_by_count
from seqlab.data.examples.example import Example


@dataclass(frozen=True)
class ExampleSplit:
    """One split, in the order of its file."""

    examples: Sequence[Example]
    inputs: Sequence[np.ndarray]  # the ids of each text
    targets: Sequence[np.ndarray]  # one label; a tag per word; or the target's ids between begin and end
    ends: Sequence[np.ndarray] = ()  # the last id of each word, if a word can have several
    words: Sequence[np.ndarray] = ()  # indices of each word in `spellings`
    spellings: Sequence[np.ndarray] = field(default=())  # the character ids of every distinct word

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def input_lengths_N(self) -> np.ndarray:
        return np.array([len(ids) for ids in self.inputs])

    @cached_property
    def target_lengths_N(self) -> np.ndarray:
        return np.array([len(ids) for ids in self.targets])

    @property
    def lengths_N(self) -> np.ndarray:
        """Ids of input and target together: the cost of an example."""
        return self.input_lengths_N + self.target_lengths_N

    @property
    def tokens(self) -> int:
        return sum(map(len, self.inputs))


class ExampleBatches:
    """Examples in random order, `batch_size` per batch, or with `tokens` at most so many padded ids per batch.

    Examples with more than `max_length` ids in input or target are left out."""

    def __init__(self, split: ExampleSplit, batch_size: int, tokens: int | None, max_length: int):
        self.batch_size, self.tokens = batch_size, tokens
        self.source_N, self.target_N = split.input_lengths_N, split.target_lengths_N
        self.included_N = np.flatnonzero((self.source_N <= max_length) & (self.target_N <= max_length))
        self._firsts: dict[int, list[int]] = {}  # by seed: the index of the first batch of each epoch so far
        # with a budget of tokens, batch sizes vary, and all examples form one pool
        pool = batch_size * POOL_BATCHES if tokens is None else len(self.included_N)
        self._buckets = LengthBuckets(self.included_N, [self.target_N, self.source_N], self._cut, pool)

    @cached_property
    def batches_per_epoch(self) -> int:
        """Batches in one pass over the split; with a budget of tokens, in the first pass."""
        return len(self._buckets.epoch(0, 0))

    def rows(self, seed: int, index: int) -> np.ndarray:
        """The examples of a batch."""
        firsts = self._firsts.setdefault(seed, [0])
        while firsts[-1] <= index:  # the number of batches in an epoch depends on its shuffle
            firsts.append(firsts[-1] + len(self._buckets.epoch(seed, len(firsts) - 1)))
        epoch = int(np.searchsorted(firsts, index, side="right")) - 1
        return self._buckets.epoch(seed, epoch)[index - firsts[epoch]]

    def _cut(self, pool_N: np.ndarray) -> list[np.ndarray]:
        if self.tokens is None:
            return cut_by_count(pool_N, self.batch_size)
        batches, first, longest = [], 0, 0
        for at, example in enumerate(pool_N):
            length = int(max(self.source_N[example], self.target_N[example]))
            longest = max(longest, length)
            if at > first and longest * (at + 1 - first) > self.tokens:
                batches.append(pool_N[first:at])
                first, longest = at, length
        return [*batches, pool_N[first:]]


def pad_rows(rows: Sequence[np.ndarray], fill: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows side by side, padded on the right, and their mask; no mask if all have the same length."""
    lengths_B = np.array([len(row) for row in rows])
    ids_BT = np.full((len(rows), max(1, int(lengths_B.max()))), fill, dtype=np.int64)
    for row, ids in zip(ids_BT, rows, strict=True):
        row[: len(ids)] = ids
    mask_BT = np.arange(ids_BT.shape[1]) < lengths_B[:, None]
    return ids_BT, None if mask_BT.all() else mask_BT


def batch_by_length(lengths_N: np.ndarray, max_tokens: int, max_rows: int) -> list[np.ndarray]:
    """Every example once, similar lengths together, at most so many padded tokens and rows per batch."""
    order_N = np.argsort(lengths_N, kind="stable")
    batches, first = [], 0
    for at in range(len(order_N) + 1):
        full = at - first == max_rows or (at < len(order_N) and (at + 1 - first) * lengths_N[order_N[at]] > max_tokens)
        if at > first and (at == len(order_N) or full):
            batches.append(order_N[first:at])
            first = at
    return batches
