"""Counts of n-grams of 1, 2, ... tokens, of a whole text and of parts of it.

Grams are numbered by sorting, once for the text. The counts of a part, such as the text without what is held out, take
no sorting of their own, and are the same as if the part were counted alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.baselines.documents import context_lengths

MAX_GRAMS = 20_000_000  # beyond these, at 16 bytes each, no longer grams are counted

Ranges = Sequence[tuple[int, int]]  # of tokens: first, and one after the last; each range begins a document


@dataclass(frozen=True)
class GramCounts:
    """The count of each gram (G), and the discounts of counts of 0, 1, 2, and 3 or more."""

    counts_G: np.ndarray
    discounts_4: np.ndarray

    @classmethod
    def from_counts(cls, counts_G: np.ndarray) -> "GramCounts":
        return cls(counts_G.astype(np.int32), _discounts(counts_G))

    def discount(self, counts: np.ndarray) -> np.ndarray:
        return self.discounts_4[np.minimum(counts, 3)]


@dataclass(frozen=True)
class GramLevel:
    """The grams of one length. A key is the context's id x vocabulary + the last token; a gram's id is its key's rank.

    Contexts (C) are the grams of the level below; single tokens have one empty context.
    """

    keys_G: np.ndarray
    contexts: int
    occurrences: GramCounts
    continuations: GramCounts | None  # None at the highest level


def count_levels(
    tokens_N: np.ndarray, starts_D: np.ndarray | None, vocab_size: int, max_order: int, parts: Sequence[Ranges]
) -> Iterator[list[GramLevel | None]]:
    """Grams of one token, then of two, and so on, in each part; None for a part whose documents are all shorter.

    Each document counts as preceded by a unique token, so a gram at its start keeps its occurrences. The first token
    is context only and does not count as a gram. Arrays over E have an entry for each position where a gram ends.
    """
    assert len(tokens_N) and tokens_N.min() >= 0 and tokens_N.max() < vocab_size, "tokens within the vocabulary"
    before_N = context_lengths(len(tokens_N), starts_D).astype(np.int32)
    counters = [_PartCounter(_before_within(ranges, before_N), vocab_size) for ranges in parts]
    keys_G, ids_N = _number(tokens_N.astype(np.int64))  # ids of the grams that end at each token
    numbering = _Numbering(keys_G, np.arange(len(tokens_N)), ids_N, np.zeros(len(keys_G), np.int32))
    for counter in counters:
        counter.read(numbering, 1)
    grams = len(keys_G)
    for length in range(2, max_order + 1):
        ends_E = np.flatnonzero(before_N >= length - 1)
        if grams > MAX_GRAMS or not len(ends_E):
            break
        keys_G, ids_E = _number(ids_N[ends_E - 1].astype(np.int64) * vocab_size + tokens_N[ends_E].astype(np.int64))
        shorter_G = np.empty(len(keys_G), np.int32)
        shorter_G[ids_E] = ids_N[ends_E]
        numbering = _Numbering(keys_G, ends_E, ids_E, shorter_G)
        yield [counter.read(numbering, length) for counter in counters]
        ids_N[ends_E] = ids_E
        grams += len(keys_G)
    yield [counter.last for counter in counters]


def _before_within(ranges: Ranges, before_N: np.ndarray) -> np.ndarray:
    """How many tokens before each one are in its document and its range; -1 outside of all ranges."""
    if list(ranges) == [(0, len(before_N))]:
        return before_N
    within_N = np.full(len(before_N), -1, before_N.dtype)
    for first, last in ranges:
        within_N[first:last] = np.minimum(before_N[first:last], np.arange(last - first))
    return within_N


@dataclass(frozen=True)
class _Numbering:
    """The grams of one length in the whole text: their keys, where they end, which they are, and of each gram the one
    without its first token."""

    keys_G: np.ndarray
    ends_E: np.ndarray
    ids_E: np.ndarray
    shorter_G: np.ndarray


class _PartCounter:
    """Counts the grams of a part, one length after the other; ids are those of the whole text."""

    def __init__(self, before_N: np.ndarray, vocab_size: int):
        self.last: GramLevel | None = None  # of the grams that were read last, without continuations
        self._before_N, self._vocab_size = before_N, vocab_size
        self._is_present_G = np.ones(1, bool)  # which grams of the last length are in this part; here the empty one
        self._begun = np.zeros(0, np.int32)  # ids of the grams of the last length that begin documents

    def read(self, grams: _Numbering, length: int) -> GramLevel | None:
        """Count the grams of the next length; returns the level of the last one, which is now complete."""
        before_E = self._before_N[grams.ends_E]
        counts_G = _count(grams.ids_E, before_E >= length - 1, len(grams.keys_G))
        is_present_G = counts_G > 0
        complete, below = self.last, np.flatnonzero(self._is_present_G)
        if not len(below) or not is_present_G.any():
            self.last, self._is_present_G = None, self._is_present_G[:0]
            return complete
        if complete is not None:
            longer_G = _count(np.append(grams.shorter_G[is_present_G], self._begun), None, len(self._is_present_G))
            continuations = GramCounts.from_counts(longer_G[below])
            complete = GramLevel(complete.keys_G, complete.contexts, complete.occurrences, continuations)
        if length == 1:
            counts_G = _count(grams.ids_E, before_E > 0, len(grams.keys_G))
        else:
            self._begun = grams.ids_E[before_E == length - 1]
        occurrences = GramCounts.from_counts(counts_G[is_present_G])
        self.last = GramLevel(self._keys(grams.keys_G, is_present_G), len(below), occurrences, None)
        self._is_present_G = is_present_G
        return complete

    def _keys(self, keys_G: np.ndarray, is_present_G: np.ndarray) -> np.ndarray:
        """The keys of the grams in this part, with contexts numbered among those in this part."""
        if self._is_present_G.all():
            return keys_G if is_present_G.all() else keys_G[is_present_G]
        contexts_G, tokens_G = np.divmod(keys_G[is_present_G], self._vocab_size)
        return (np.cumsum(self._is_present_G) - 1)[contexts_G] * self._vocab_size + tokens_G


def _count(ids_E: np.ndarray, chosen_E: np.ndarray | None, size: int) -> np.ndarray:
    whole = chosen_E is None or bool(chosen_E.all())
    return np.bincount(ids_E if whole else ids_E[chosen_E], minlength=size)


def _number(keys_E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys in increasing order, and each key's rank among them. Overwrites the keys."""
    position_bits = len(keys_E).bit_length()
    if int(keys_E.max()) < 2 ** (63 - position_bits):
        # numpy sorts several times faster than it argsorts, so each key carries its position
        keys_E <<= position_bits
        keys_E |= np.arange(len(keys_E))
        keys_E.sort()
        order_E = (keys_E & (2**position_bits - 1)).astype(np.int32)
        keys_E >>= position_bits
    else:
        order_E = np.argsort(keys_E)
        keys_E = keys_E[order_E]
    new_E = np.ones(len(keys_E), bool)
    np.not_equal(keys_E[1:], keys_E[:-1], out=new_E[1:])
    ranks_E = np.empty(len(keys_E), np.int32)
    ranks_E[order_E] = np.cumsum(new_E, dtype=np.int32) - 1
    return keys_E[new_E], ranks_E


def _discounts(counts_G: np.ndarray) -> np.ndarray:
    """The discounts of Chen and Goodman; half the count if there are too few grams for an estimate."""
    n = np.bincount(np.minimum(counts_G, 5), minlength=6)  # n[r]: grams with count r
    Y = n[1] / max(n[1] + 2 * n[2], 1)
    r = np.arange(1, 4)
    D = r - (r + 1) * Y * n[r + 1] / np.maximum(n[r], 1)
    return np.append(0, np.where((n[r] > 0) & (D > 0) & (r > D), D, r / 2))
