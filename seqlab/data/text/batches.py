"""Batches of a token file.

`WindowBatches` draws random windows with a fresh state, `PermutedWindows` takes each window of a sharded text once,
`StreamBatches` walks contiguous rows and carries their state from batch to batch, `LineBatches` groups lines of similar
length.
"""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from seqlab.data.batching import POOL_BATCHES, LengthBuckets, batch_generator, cut_by_count
from seqlab.data.text.permutation import KeyedPermutation
from seqlab.data.text.tokens import TokenSplit

NOT_SCORED = -100  # the target at padding


@dataclass(frozen=True)
class TokenRows:
    """The ids of a batch: inputs, targets one position later, and a mask that is False at padding."""

    inputs_BT: np.ndarray
    targets_BT: np.ndarray
    mask_BT: np.ndarray | None = None
    fresh: bool = True  # whether to start from a fresh state


class Batches(Protocol):
    """An endless sequence of batches, epoch after epoch."""

    @property
    def batches_per_epoch(self) -> float: ...

    def rows(self, seed: int, index: int) -> TokenRows: ...


class WindowBatches:
    """Random windows, each with a fresh state, drawn uniformly from all that lie within one segment."""

    def __init__(self, tokens: TokenSplit, batch_size: int, window: int):
        self.tokens, self.batch_size, self.window = tokens, batch_size, window
        self.batches_per_epoch = max(1.0, len(tokens) / (batch_size * window))
        starts = tokens.document_starts()
        self._starts_S = starts[:-1]
        self._ends_S = np.cumsum(np.maximum(0, np.diff(starts) - window))  # of the numbers of each segment's windows

    def rows(self, seed: int, index: int) -> TokenRows:
        numbers_B = batch_generator(seed, index).integers(0, self._ends_S[-1], self.batch_size)
        segments_B = np.searchsorted(self._ends_S, numbers_B, side="right")
        before_S = np.append(0, self._ends_S[:-1])
        starts_B = self._starts_S[segments_B] + numbers_B - before_S[segments_B]
        ids_BT = self.tokens.read_rows(starts_B, self.window + 1)
        return TokenRows(ids_BT[:, :-1], ids_BT[:, 1:])


class StreamBatches:
    """The text in `batch_size` contiguous rows, window by window: truncated backpropagation through time.

    Rows run across the seams between segments, and so does the carried state: a seam is one token
    among thousands."""

    def __init__(self, tokens: TokenSplit, batch_size: int, window: int):
        self.tokens, self.batch_size, self.window = tokens, batch_size, window
        self.row_length = (len(tokens) - 1) // batch_size
        self.batches_per_epoch = -(-self.row_length // window)

    def rows(self, seed: int, index: int) -> TokenRows:
        first = index % self.batches_per_epoch * self.window
        length = min(self.window, self.row_length - first)
        ids_BT = self.tokens.read_rows(np.arange(self.batch_size) * self.row_length + first, length + 1)
        return TokenRows(ids_BT[:, :-1], ids_BT[:, 1:], fresh=first == 0)


class PermutedWindows:
    """Windows that lie end to end, each once in an epoch, in an order that a key gives: it takes no memory to keep.

    Epochs follow each other without a gap, so a batch may have windows of two."""

    def __init__(self, tokens: TokenSplit, batch_size: int, window: int):
        self.tokens, self.batch_size, self.window = tokens, batch_size, window
        self.windows = (len(tokens) - 1) // window
        self.batches_per_epoch = -(-self.windows // batch_size)

    def rows(self, seed: int, index: int) -> TokenRows:
        epochs_B, numbers_B = np.divmod(index * self.batch_size + np.arange(self.batch_size), self.windows)
        for epoch in np.unique(epochs_B):
            order = KeyedPermutation(self.windows, seed, int(epoch))
            numbers_B[epochs_B == epoch] = order(numbers_B[epochs_B == epoch])
        ids_BT = self.tokens.read_rows(numbers_B * self.window, self.window + 1)
        return TokenRows(ids_BT[:, :-1], ids_BT[:, 1:])


class LineBatches:
    """Lines in random order, grouped by length; a long one is cut into windows."""

    def __init__(self, tokens: TokenSplit, batch_size: int, window: int):
        self.tokens = tokens
        self.firsts_W, self.lengths_W, _ = cut_windows(tokens, window)
        self.batches_per_epoch = -(-len(self.firsts_W) // batch_size)
        cut = partial(cut_by_count, size=batch_size)
        windows_W = np.arange(len(self.firsts_W))
        self._buckets = LengthBuckets(windows_W, [self.lengths_W], cut, batch_size * POOL_BATCHES)

    def rows(self, seed: int, index: int) -> TokenRows:
        epoch, position = divmod(index, self.batches_per_epoch)
        windows_B = self._buckets.epoch(seed, epoch)[position]
        return pad_windows(self.tokens, self.firsts_W[windows_B], self.lengths_W[windows_B])


def choose_batches(tokens: TokenSplit, batching: str, batch_size: int, window: int) -> Batches:
    """Lines by length; a running text as `batching` says, "stream" or "windows", which shards have in a fixed order."""
    if tokens.stats.by_lines:
        return LineBatches(tokens, batch_size, window)
    if batching == "stream":
        return StreamBatches(tokens, batch_size, window)
    return (PermutedWindows if tokens.permuted else WindowBatches)(tokens, batch_size, window)


def cut_windows(tokens: TokenSplit, window: int, limit: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The windows of a split, end to end, never across documents: firsts_W, lengths_W (of inputs), document_W.

    Every token except the first of each document is the target of exactly one window. With a limit, they are those that
    begin within so many tokens."""
    starts = tokens.document_starts()
    inputs_D = np.diff(starts) - 1
    counts_D = -(-inputs_D // window)
    if limit is not None:
        counts_D = np.clip(-((starts[:-1] - limit) // window), 0, counts_D)
    document_W = np.repeat(np.arange(len(inputs_D)), counts_D)
    index_W = np.arange(len(document_W)) - np.repeat(np.cumsum(counts_D) - counts_D, counts_D)
    firsts_W = starts[:-1][document_W] + index_W * window
    lengths_W = np.minimum(window, inputs_D[document_W] - index_W * window)
    return firsts_W, lengths_W, document_W


def pad_windows(tokens: TokenSplit, firsts_B: np.ndarray, lengths_B: np.ndarray) -> TokenRows:
    """Windows side by side, padded on the right; without a mask if all have the same length."""
    longest = int(lengths_B.max())
    mask_BT = np.arange(longest) < lengths_B[:, None]
    if mask_BT.all():
        ids_BT = tokens.read_rows(firsts_B, longest + 1)
        return TokenRows(ids_BT[:, :-1], ids_BT[:, 1:])
    # padding reads the row's first id again, which is inside the file for every row
    offsets_BT = np.where(mask_BT, np.arange(longest), 0)
    inputs_BT = tokens.read_positions(firsts_B[:, None] + offsets_BT)
    targets_BT = np.where(mask_BT, tokens.read_positions(firsts_B[:, None] + offsets_BT + 1), NOT_SCORED)
    return TokenRows(inputs_BT, targets_BT, mask_BT)
