"""Interpolated Kneser-Ney n-grams with modified discounts.

For a context h and a token w, where h' is h without its oldest token (Chen and Goodman 1999, section 3):

    p(w | h) = (c(hw) - D(c(hw))) / sum_v c(hv) + p(w | h') sum_v D(c(hv)) / sum_v c(hv)

At the model's order, c counts occurrences; below it, c counts the distinct tokens seen before the gram. The
recursion ends in the uniform distribution. An unseen context leaves p(w | h') unchanged.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seqlab.baselines.documents import context_lengths, first_tokens, slice_documents

FIT_TOKENS = 10_000_000  # at most; of a longer text, its end
MAX_GRAMS = 20_000_000  # beyond these, at 16 bytes each, no longer grams are counted
MAX_ORDER = 12
FIT_SHARE = 0.9  # of the training text, when the order is chosen on the rest
PATIENCE = 2  # orders without a gain before the search stops


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


@dataclass(frozen=True)
class KneserNey:
    """Levels of grams of 1 to `order` tokens, counted in `fitted_tokens` of the training text."""

    levels: list[GramLevel]
    vocab_size: int
    fitted_tokens: int

    @property
    def order(self) -> int:
        return len(self.levels)

    @classmethod
    def fit(
        cls, train_N: np.ndarray, vocab_size: int, max_order: int, starts_D: np.ndarray | None = None
    ) -> "KneserNey":
        """Count grams; the order stays below `max_order` if documents are shorter or MAX_GRAMS is reached."""
        train_N, starts_D = _last_tokens(train_N, starts_D)
        return cls(list(_levels(train_N, starts_D, vocab_size, max_order)), vocab_size, len(train_N))

    def nats(
        self,
        tokens_N: np.ndarray,
        order: int | None = None,
        starts_D: np.ndarray | None = None,
        window: int | None = None,
    ) -> np.ndarray:
        """-ln p of every token except the first of each document, at `order` (the highest if unset).

        With a window, the context begins anew at every window of the document, as that of a model does."""
        order = self.order if order is None else order
        assert 1 <= order <= self.order, f"order {order} of a model of order {self.order}"
        scorer = _Scorer(tokens_N, context_lengths(len(tokens_N), starts_D, window), self.vocab_size)
        for level in self.levels[: order - 1]:
            scorer.look_up(level)
            scorer.interpolate(level)
        scorer.look_up(self.levels[order - 1])
        return scorer.nats(self.levels[order - 1])


def best_kneser_ney(
    train_N: np.ndarray, vocab_size: int, starts_D: np.ndarray | None = None, max_order: int = MAX_ORDER
) -> KneserNey:
    """The model of the order that best predicts the end of the training text from the text before it."""
    train_N, starts_D = _last_tokens(train_N, starts_D)
    nats = nats_by_order(train_N, vocab_size, starts_D, max_order)
    return KneserNey.fit(train_N, vocab_size, 1 + int(np.argmin(nats)), starts_D)


def nats_by_order(
    train_N: np.ndarray, vocab_size: int, starts_D: np.ndarray | None = None, max_order: int = MAX_ORDER
) -> list[float]:
    """The summed nats of the end of the training text under orders 1, 2, ..., counted in the text before it."""
    middle = max(1, int(FIT_SHARE * len(train_N)))
    end_N, end_starts_D = slice_documents(train_N, starts_D, middle, len(train_N))
    scorer = _Scorer(end_N, context_lengths(len(end_N), end_starts_D), vocab_size)
    nats: list[float] = []
    for level in _levels(*slice_documents(train_N, starts_D, 0, middle), vocab_size, max_order):
        scorer.look_up(level)
        nats.append(float(scorer.nats(level).sum()))
        if len(nats) > int(np.argmin(nats)) + PATIENCE:
            break
        if level.continuations is not None:
            scorer.interpolate(level)
    return nats


def _last_tokens(train_N: np.ndarray, starts_D: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    return slice_documents(train_N, starts_D, max(0, len(train_N) - FIT_TOKENS), len(train_N))


# --- counting -------------------------------------------------------------------------------------------------------


def _levels(tokens_N: np.ndarray, starts_D: np.ndarray | None, vocab_size: int, max_order: int) -> Iterator[GramLevel]:
    """Grams of one token, then of two, and so on. Arrays over E have an entry for each position where a gram ends.

    Each document counts as preceded by a unique token, so a gram at its start keeps its occurrences. The first token
    is context only and does not count as a gram.
    """
    assert len(tokens_N) and tokens_N.min() >= 0 and tokens_N.max() < vocab_size, "tokens within the vocabulary"
    tokens_E = tokens_N.astype(np.int32)
    begins_E = first_tokens(len(tokens_N), starts_D)  # whether the gram begins a document
    keys_G, ids_E = _number(tokens_N.astype(np.int64))
    occurrences = GramCounts.from_counts(np.bincount(ids_E[~begins_E], minlength=len(keys_G)))
    begun = ids_E[:0]  # ids of the grams that begin documents
    contexts, grams = 1, len(keys_G)
    for _ in range(max_order - 1):
        keep_E = ~begins_E[1:]
        if grams > MAX_GRAMS or not keep_E.any():
            break
        tokens_E, begins_E = tokens_E[1:][keep_E], begins_E[:-1][keep_E]
        shorter_E = ids_E[1:][keep_E]
        longer_keys_G, ids_E = _number(ids_E[:-1][keep_E].astype(np.int64) * vocab_size + tokens_E)
        shorter_G = np.empty(len(longer_keys_G), np.int32)
        shorter_G[ids_E] = shorter_E
        continuations = GramCounts.from_counts(np.bincount(np.append(shorter_G, begun), minlength=len(keys_G)))
        yield GramLevel(keys_G, contexts, occurrences, continuations)
        contexts, keys_G = len(keys_G), longer_keys_G
        occurrences = GramCounts.from_counts(np.bincount(ids_E, minlength=len(keys_G)))
        begun = ids_E[begins_E]
        grams += len(keys_G)
    yield GramLevel(keys_G, contexts, occurrences, None)


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


# --- scoring --------------------------------------------------------------------------------------------------------


class _Scorer:
    """A held-out text and the probability of each token under the levels below the current one."""

    def __init__(self, tokens_N: np.ndarray, reach_N: np.ndarray, vocab_size: int):
        assert not len(tokens_N) or (tokens_N.min() >= 0 and tokens_N.max() < vocab_size), "tokens in the vocabulary"
        self.tokens_N = tokens_N.astype(np.int64)
        self.reach_N = reach_N  # context tokens of each token; without any, it is not predicted
        self.context_length = 0  # of the current level
        self.vocab_size = vocab_size
        self.p_N = np.full(len(tokens_N), 1 / vocab_size)
        # ids of the grams that end at each token, and of their contexts; -1 for those not in the training text
        self.contexts_N = np.zeros(len(tokens_N), np.int64)
        self.ids_N = np.full(len(tokens_N), -1)

    def look_up(self, level: GramLevel) -> None:
        """Find the gram of this level that ends at each token."""
        seen_S = np.flatnonzero(self.contexts_N >= 0)
        keys_S = self.contexts_N[seen_S] * self.vocab_size + self.tokens_N[seen_S]
        ranks_S = np.searchsorted(level.keys_G, keys_S)
        known_S = level.keys_G[np.minimum(ranks_S, len(level.keys_G) - 1)] == keys_S
        self.ids_N = np.full(len(self.tokens_N), -1)
        self.ids_N[seen_S[known_S]] = ranks_S[known_S]

    def interpolate(self, level: GramLevel) -> None:
        """Use the current level as one below the model's order, and move on to the next."""
        assert level.continuations is not None
        self.p_N = self._interpolated(level, level.continuations)
        self.contexts_N = np.roll(self.ids_N, 1)
        self.context_length += 1
        self.contexts_N[self.reach_N < self.context_length] = -1

    def nats(self, level: GramLevel) -> np.ndarray:
        """-ln p of the predicted tokens, with the current level as the model's order."""
        return -np.log(self._interpolated(level, level.occurrences)[self.reach_N > 0])

    def _interpolated(self, level: GramLevel, counts: GramCounts) -> np.ndarray:
        contexts_G = level.keys_G // self.vocab_size
        total_C = np.bincount(contexts_G, counts.counts_G, level.contexts)
        spare_C = np.bincount(contexts_G, counts.discount(counts.counts_G), level.contexts)

        seen_S = np.flatnonzero((self.contexts_N >= 0) & (total_C[self.contexts_N] > 0))
        contexts_S, ids_S = self.contexts_N[seen_S], self.ids_N[seen_S]
        count_S = np.where(ids_S >= 0, counts.counts_G[ids_S], 0)
        discounted_S = count_S - counts.discount(count_S)
        p_N = self.p_N.copy()
        p_N[seen_S] = (discounted_S + spare_C[contexts_S] * self.p_N[seen_S]) / total_C[contexts_S]
        return p_N
