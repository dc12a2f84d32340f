"""Examples as ids, and their batches: those of similar length together, padded to their own longest.

A batch is a pure function of (seed, index), so that what a run reads never depends on where it was stopped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from seqlab.data.examples.example import Example
from seqlab.data.text.batches import generator

POOL = 50  # batches whose examples are sorted by length together


@dataclass(frozen=True)
class ExampleSplit:
    """One part, in the order of its file."""

    examples: Sequence[Example]
    inputs: Sequence[np.ndarray]  # the ids of each text
    targets: Sequence[np.ndarray]  # one label; a tag for each word; or the ids of the target, begin and end around them
    ends: Sequence[np.ndarray] = ()  # where each word ends among the ids, if that is not where it stands
    words: Sequence[np.ndarray] = ()  # which spelling each word has
    spellings: Sequence[np.ndarray] = field(default=())  # each different word once, as ids of its characters

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def lengths_N(self) -> np.ndarray:
        """Ids of each input and target together: what an example costs."""
        return np.array([len(one) for one in self.inputs]) + self.target_lengths_N

    @cached_property
    def target_lengths_N(self) -> np.ndarray:
        return np.array([len(one) for one in self.targets])

    @property
    def tokens(self) -> int:
        return sum(map(len, self.inputs))


class Buckets:
    """Examples in random order, in batches of `batch`, or of at most `tokens` ids with their padding."""

    def __init__(self, part: ExampleSplit, batch_size: int, tokens: int | None, longest: int):
        self.batch_size, self.tokens = batch_size, tokens
        self.source_N = np.array([len(one) for one in part.inputs])
        self.target_N = part.target_lengths_N
        self.kept_N = np.flatnonzero((self.source_N <= longest) & (self.target_N <= longest))
        self._firsts: dict[int, list[int]] = {}  # by seed: the number of the first batch of each epoch so far
        self._planned: tuple[tuple[int, int], list[np.ndarray]] | None = None

    @cached_property
    def epoch(self) -> int:
        """Batches in a pass over the part; with a budget of tokens, in the first."""
        return len(self._plan(0, 0))

    def rows(self, seed: int, index: int) -> np.ndarray:
        """Which examples are in a batch."""
        firsts = self._firsts.setdefault(seed, [0])
        while firsts[-1] <= index:  # how many batches an epoch has follows from how it was shuffled
            firsts.append(firsts[-1] + len(self._plan(seed, len(firsts) - 1)))
        epoch = int(np.searchsorted(firsts, index, side="right")) - 1
        return self._plan(seed, epoch)[index - firsts[epoch]]

    def _plan(self, seed: int, epoch: int) -> list[np.ndarray]:
        """The batches of one epoch. Remembered, since it is the same for all its batches."""
        if self._planned is None or self._planned[0] != (seed, epoch):
            draw = generator(seed, epoch)
            order_N = draw.permutation(self.kept_N)
            size = self.batch_size * POOL if self.tokens is None else len(order_N)
            batches: list[np.ndarray] = []
            for first in range(0, len(order_N), size):
                pool = order_N[first : first + size]
                batches += self._cut(pool[np.lexsort((self.target_N[pool], self.source_N[pool]))])
            self._planned = (seed, epoch), [batches[i] for i in draw.permutation(len(batches))]
        return self._planned[1]

    def _cut(self, pool_N: np.ndarray) -> list[np.ndarray]:
        if self.tokens is None:
            return [pool_N[at : at + self.batch_size] for at in range(0, len(pool_N), self.batch_size)]
        batches, first, longest = [], 0, 0
        for at, which in enumerate(pool_N):
            widest = max(longest, int(max(self.source_N[which], self.target_N[which])))
            if at > first and widest * (at + 1 - first) > self.tokens:
                batches.append(pool_N[first:at])
                first, widest = at, int(max(self.source_N[which], self.target_N[which]))
            longest = widest
        return [*batches, pool_N[first:]]


def padded(rows: Sequence[np.ndarray], fill: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows of different length side by side, padded on the right, and where they are kept; None: everywhere."""
    lengths_B = np.array([len(row) for row in rows])
    ids_BT = np.full((len(rows), max(1, int(lengths_B.max()))), fill, dtype=np.int64)
    for row, ids in zip(ids_BT, rows, strict=True):
        row[: len(ids)] = ids
    mask_BT = np.arange(ids_BT.shape[1]) < lengths_B[:, None]
    return ids_BT, None if mask_BT.all() else mask_BT


def in_order(lengths_N: np.ndarray, tokens: int, most: int) -> list[np.ndarray]:
    """All examples for scoring, similar lengths together, at most so many padded tokens and rows at once."""
    order_N = np.argsort(lengths_N, kind="stable")
    batches, first = [], 0
    for at in range(len(order_N) + 1):
        full = at - first == most or (at < len(order_N) and (at + 1 - first) * lengths_N[order_N[at]] > tokens)
        if at > first and (at == len(order_N) or full):
            batches.append(order_N[first:at])
            first = at
    return batches
