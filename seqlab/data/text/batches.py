"""Batches as pure functions of (seed, index): what a run reads never depends on where it was stopped.

`Windows` takes random windows with a fresh state, `Stream` walks contiguous rows whose state is carried from batch
to batch, `Lines` takes documents of similar length together.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from seqlab.data.text.tokens import TokenSplit

NOT_SCORED = -100  # the target at padding


@dataclass(frozen=True)
class Rows:
    """Ids of a batch: inputs, the targets one position later, and where there is no padding."""

    inputs_BT: np.ndarray
    targets_BT: np.ndarray
    mask_BT: np.ndarray | None = None
    fresh: bool = True


class Batches(Protocol):
    epoch: int  # batches in one pass over the part

    def rows(self, seed: int, index: int) -> Rows: ...


def generator(seed: int, index: int) -> np.random.Generator:
    """Random numbers that depend on nothing but these two."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, index], dtype=np.uint64)))


class Windows:
    """Random windows, each with a fresh state."""

    def __init__(self, part: TokenSplit, batch_size: int, window: int):
        self.part, self.batch_size, self.window = part, batch_size, window
        self.epoch = max(1, len(part) // (batch_size * window))

    def rows(self, seed: int, index: int) -> Rows:
        starts_B = generator(seed, index).integers(0, len(self.part) - self.window, self.batch_size)
        ids_BT = self.part.gather(starts_B, self.window + 1)
        return Rows(ids_BT[:, :-1], ids_BT[:, 1:])


class Stream:
    """The text laid out in `batch` contiguous rows, read window by window: truncated backpropagation through time."""

    def __init__(self, part: TokenSplit, batch_size: int, window: int):
        self.part, self.batch_size, self.window = part, batch_size, window
        self.row = (len(part) - 1) // batch_size
        self.epoch = -(-self.row // window)

    def rows(self, seed: int, index: int) -> Rows:
        first = index % self.epoch * self.window
        length = min(self.window, self.row - first)
        ids_BT = self.part.gather(np.arange(self.batch_size) * self.row + first, length + 1)
        return Rows(ids_BT[:, :-1], ids_BT[:, 1:], fresh=first == 0)


class Lines:
    """Documents in random order, those of similar length together; a long one comes in pieces of a window."""

    POOL = 50  # batches whose documents are sorted by length together

    def __init__(self, part: TokenSplit, batch_size: int, window: int):
        self.part, self.batch_size = part, batch_size
        self.firsts_P, self.lengths_P, _ = pieces(part, window)
        self.epoch = -(-len(self.firsts_P) // batch_size)
        self._planned: tuple[tuple[int, int], list[np.ndarray]] | None = None

    def rows(self, seed: int, index: int) -> Rows:
        epoch, place = divmod(index, self.epoch)
        return padded(self.part, *self._of(self._plan(seed, epoch)[place]))

    def _of(self, chosen_B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.firsts_P[chosen_B], self.lengths_P[chosen_B]

    def _plan(self, seed: int, epoch: int) -> list[np.ndarray]:
        """The batches of one epoch. Remembered, since it is the same for all its batches."""
        if self._planned is None or self._planned[0] != (seed, epoch):
            draw = generator(seed, epoch)
            order_P = draw.permutation(len(self.firsts_P))
            batches: list[np.ndarray] = []
            for first in range(0, len(order_P), self.batch_size * self.POOL):
                pool = order_P[first : first + self.batch_size * self.POOL]
                pool = pool[np.argsort(self.lengths_P[pool], kind="stable")]
                batches += [pool[at : at + self.batch_size] for at in range(0, len(pool), self.batch_size)]
            self._planned = (seed, epoch), [batches[i] for i in draw.permutation(len(batches))]
        return self._planned[1]


def pieces(part: TokenSplit, window: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The part cut into windows end to end, never across documents: firsts_P, lengths_P (of inputs), document_P.

    Every token but each document's first is the target of exactly one piece."""
    documented = part.facts.documents > 1
    starts = part.starts() if documented else np.array([0, len(part)], dtype=np.int64)
    inputs_D = np.diff(starts) - 1
    counts_D = -(-inputs_D // window)
    document_P = np.repeat(np.arange(len(inputs_D)), counts_D)
    number_P = np.arange(len(document_P)) - np.repeat(np.cumsum(counts_D) - counts_D, counts_D)
    firsts_P = starts[:-1][document_P] + number_P * window
    lengths_P = np.minimum(window, inputs_D[document_P] - number_P * window)
    return firsts_P, lengths_P, document_P


def padded(part: TokenSplit, firsts_B: np.ndarray, lengths_B: np.ndarray) -> Rows:
    """Pieces of different length side by side, padded on the right; no mask where nothing is padded."""
    longest = int(lengths_B.max())
    mask_BT = np.arange(longest) < lengths_B[:, None]
    if mask_BT.all():
        ids_BT = part.gather(firsts_B, longest + 1)
        return Rows(ids_BT[:, :-1], ids_BT[:, 1:])
    # a padded position reads its row's first id, which lies in the file whatever the row's length
    offsets_BT = np.where(mask_BT, np.arange(longest), 0)
    inputs_BT = part.pick(firsts_B[:, None] + offsets_BT)
    targets_BT = np.where(mask_BT, part.pick(firsts_B[:, None] + offsets_BT + 1), NOT_SCORED)
    return Rows(inputs_BT, targets_BT, mask_BT)
