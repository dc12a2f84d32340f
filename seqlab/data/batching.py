"""Batches as pure functions of (seed, index): what a run reads never depends on where it was stopped.

`LengthBuckets` groups sequences of similar length, which keeps padding small.
"""

from collections.abc import Callable, Sequence

import numpy as np

POOL_BATCHES = 50  # batches whose sequences are sorted by length together


def batch_generator(seed: int, index: int) -> np.random.Generator:
    """Random numbers that depend on these two only."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, index], dtype=np.uint64)))


class LengthBuckets:
    """The batches of each epoch over `items_N`, of indices into the arrays of `lengths`.

    An epoch is shuffled, cut into pools of `pool` items, and each pool sorted by length (the last array first) and
    divided by `cut`; then the batches are shuffled.
    """

    def __init__(
        self,
        items_N: np.ndarray,
        lengths: Sequence[np.ndarray],
        cut: Callable[[np.ndarray], list[np.ndarray]],
        pool: int,
    ):
        self.items_N, self.lengths, self.cut, self.pool = items_N, lengths, cut, pool
        self._planned: tuple[tuple[int, int], list[np.ndarray]] | None = None

    def epoch(self, seed: int, epoch: int) -> list[np.ndarray]:
        """All batches of one epoch. The last result is cached, since every batch of the epoch asks for it."""
        if self._planned is None or self._planned[0] != (seed, epoch):
            draw = batch_generator(seed, epoch)
            order_N = draw.permutation(self.items_N)
            batches: list[np.ndarray] = []
            for first in range(0, len(order_N), max(1, self.pool)):
                pool_N = order_N[first : first + self.pool]
                batches += self.cut(pool_N[np.lexsort([length_N[pool_N] for length_N in self.lengths])])
            self._planned = (seed, epoch), [batches[i] for i in draw.permutation(len(batches))]
        return self._planned[1]


def cut_by_count(items_N: np.ndarray, size: int) -> list[np.ndarray]:
    """Batches of `size` items; the last one may be smaller."""
    return [items_N[first : first + size] for first in range(0, len(items_N), size)]
