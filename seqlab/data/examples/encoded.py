"""Examples as ids, and their batches: similar lengths together, which keeps padding small."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from seqlab.data.batching import POOL_BATCHES, LengthBuckets, cut_by_count
from seqlab.data.examples.example import Example

SCORED_AT_ONCE = 8_000  # tokens of one forward pass when scoring, padding included
MAX_SCORED_ROWS = 256


@dataclass(frozen=True)
class ExampleSplit:
    """One split, in the order of its file."""

    examples: Sequence[Example]
    inputs: Sequence[np.ndarray]  # the ids of each text
    targets: Sequence[np.ndarray]  # one label; a tag per word; or the target's ids between begin and end
    ends: Sequence[np.ndarray] = ()  # the last id of each word, if a word can have several
    words: Sequence[np.ndarray] = ()  # indices of each word in `spellings`
    spellings: Sequence[np.ndarray] = ()  # the character ids of every distinct word

    def __len__(self) -> int:
        return len(self.inputs)

    def up_to(self, max_length: int) -> "ExampleSplit":
        """The examples with at most this many ids in input and in target: those that are trained on."""
        rows = [row for row, length in enumerate(self.longest_N.tolist()) if length <= max_length] if len(self) else []
        if len(rows) == len(self):
            return self
        per_example = ("examples", "inputs", "targets", "ends", "words")
        columns: dict[str, Sequence[Any]] = {name: getattr(self, name) for name in per_example}
        return replace(self, **{name: [some[row] for row in rows] for name, some in columns.items() if some})

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
    def longest_N(self) -> np.ndarray:
        """Ids of the longer side, which determines the padding."""
        return np.maximum(self.input_lengths_N, self.target_lengths_N)

    @property
    def tokens(self) -> int:
        return int(self.input_lengths_N.sum())

    def count_within(self, limit: int | None) -> int:
        """How many examples from the beginning hold about `limit` tokens."""
        if limit is None:
            return len(self)
        return min(len(self), int(np.searchsorted(np.cumsum(self.lengths_N), limit)) + 1)

    def scoring_batches(self, count: int) -> list[np.ndarray]:
        """The rows of the first `count` examples, in batches of similar length."""
        lengths_N = self.longest_N[:count]
        return cut_by_tokens(np.argsort(lengths_N, kind="stable"), lengths_N, SCORED_AT_ONCE, MAX_SCORED_ROWS)


class ExampleBatches:
    """Examples in random order: `batch_size` per batch or, if `tokens` is set, at most that many padded ids per batch.

    Examples with more than `max_length` ids in input or target are left out."""

    def __init__(self, split: ExampleSplit, batch_size: int, tokens: int | None, max_length: int):
        self.batch_size, self.tokens = batch_size, tokens
        self.longest_N = split.longest_N
        self.included_N = np.flatnonzero(self.longest_N <= max_length)
        self._firsts: dict[int, list[int]] = {}  # by seed: the index of the first batch of each epoch so far
        # with a budget of tokens, batch sizes vary, and all examples form one pool
        pool = batch_size * POOL_BATCHES if tokens is None else len(self.included_N)
        self._buckets = LengthBuckets(self.included_N, [split.target_lengths_N, split.input_lengths_N], self._cut, pool)

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
        return cut_by_tokens(pool_N, self.longest_N, self.tokens)


def cut_by_tokens(
    items_N: np.ndarray, lengths_N: np.ndarray, max_tokens: int, max_rows: int | None = None
) -> list[np.ndarray]:
    """Consecutive batches with at most this many padded tokens and rows; a longer item is a batch by itself."""
    batches, first, longest = [], 0, 0
    for at, item in enumerate(items_N):
        longest = max(longest, int(lengths_N[item]))
        if at > first and (at - first == max_rows or longest * (at + 1 - first) > max_tokens):
            batches.append(items_N[first:at])
            first, longest = at, int(lengths_N[item])
    return [*batches, items_N[first:]] if len(items_N) else []
