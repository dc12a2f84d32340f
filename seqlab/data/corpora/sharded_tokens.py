"""A split in shards, read as one long sequence of ids: a shard is mapped only while something is read from it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from seqlab.data.text.tokens import SplitStats, TokenSplit
from seqlab.errors import StorageError


class ShardFile(NamedTuple):
    """The ids of one split in one shard."""

    path: Path  # without the suffix
    tokens: int
    unknown: int


class ShardedTokens(TokenSplit):
    """Like a split in one file. Documents follow each other, each ends with a newline, and windows cross them."""

    permuted = True

    def __init__(self, shards: Sequence[ShardFile], dtype: np.dtype, stats: SplitStats, unknown: int | None = None):
        self.stats = stats
        self._shards = [shard for shard in shards if shard.tokens]
        self._ends_S = np.cumsum([shard.tokens for shard in self._shards])
        self._dtype, self._unknown = dtype, unknown

    def document_starts(self) -> np.ndarray:
        """It is one document, as a running text is."""
        return np.array([0, len(self)])

    def read(self, first: int, last: int) -> np.ndarray:
        last = min(last, len(self))
        pieces = [ids for _, ids in self._pieces(first, last)]
        return np.concatenate([np.empty(0, np.int64), *pieces]).astype(np.int64)

    def read_positions(self, positions: np.ndarray) -> np.ndarray:
        places_N = positions.ravel()
        shards_N = np.searchsorted(self._ends_S, places_N, side="right")
        ids_N = np.empty(len(places_N), np.int64)
        for shard in np.unique(shards_N):
            chosen_N = shards_N == shard
            ids_N[chosen_N] = self._map_shard(shard)[places_N[chosen_N] - self._start(shard)]
        return ids_N.reshape(positions.shape)

    def spelling_nats(self, tokens_U: np.ndarray) -> np.ndarray:
        if not self.stats.unknown:
            return np.zeros(len(tokens_U))
        nats = [np.empty(0)]
        for shard, ids_N in self._pieces(0, int(tokens_U.sum()) + 1):
            nats_N, unknown_N = np.zeros(len(ids_N)), ids_N == self._unknown
            if unknown_N.any():
                path = self._shards[shard].path.with_suffix(self._shards[shard].path.suffix + ".spelling")
                nats_N[unknown_N] = np.fromfile(path, count=int(unknown_N.sum()))
            nats.append(nats_N)
        scored_N = np.concatenate(nats)[1:]
        return np.add.reduceat(scored_N, np.cumsum(tokens_U) - tokens_U)

    def _pieces(self, first: int, last: int) -> Iterator[tuple[int, np.ndarray]]:
        """The ids of a range, shard by shard."""
        shard = int(np.searchsorted(self._ends_S, first, side="right"))
        while shard < len(self._shards) and (start := self._start(shard)) < last:
            yield shard, np.array(self._map_shard(shard)[max(0, first - start) : last - start])
            shard += 1

    def _start(self, shard: int) -> int:
        return int(self._ends_S[shard]) - self._shards[shard].tokens

    def _map_shard(self, shard: int) -> np.ndarray:
        path = self._shards[shard].path.with_suffix(self._shards[shard].path.suffix + ".ids")
        try:
            return np.memmap(path, dtype=self._dtype, mode="r", shape=(self._shards[shard].tokens,))
        except (OSError, ValueError):
            raise StorageError(
                f"'{path}' was removed or changed while it was in use. Repeat the command, or resume the run: the "
                f"shard is encoded again."
            ) from None
