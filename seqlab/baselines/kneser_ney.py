"""Interpolated Kneser-Ney n-grams with modified discounts.

For a context h and a token w, where h' is h without its oldest token (Chen and Goodman 1999, section 3):

    p(w | h) = (c(hw) - D(c(hw))) / sum_v c(hv) + p(w | h') sum_v D(c(hv)) / sum_v c(hv)

At the model's order, c counts occurrences; below it, c counts the distinct tokens seen before the gram. The
recursion ends in the uniform distribution. An unseen context leaves p(w | h') unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.baselines.documents import context_lengths, slice_documents
from seqlab.baselines.gram_counts import GramCounts, GramLevel, Ranges, count_levels

FIT_TOKENS = 10_000_000  # at most; of a longer text, its end
MAX_ORDER = 12
FIT_SHARE = 0.9  # of the training text, when the order is chosen on the rest
PATIENCE = 2  # orders without a gain before the search stops


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
        counted = count_levels(train_N, starts_D, vocab_size, max_order, [[(0, len(train_N))]])
        return cls([level for (level,) in counted if level is not None], vocab_size, len(train_N))

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
    return best_with_parts(train_N, vocab_size, [], starts_D, max_order)[0]


def best_with_parts(
    train_N: np.ndarray,
    vocab_size: int,
    parts: Sequence[Ranges],
    starts_D: np.ndarray | None = None,
    max_order: int = MAX_ORDER,
) -> list[KneserNey]:
    """The best model of a training text of at most FIT_TOKENS, and the models of the same order of parts of it."""
    assert len(train_N) <= FIT_TOKENS, f"{len(train_N):,} tokens are too many to count"
    orders = _Orders(train_N, vocab_size, starts_D)
    counted: list[list[GramLevel | None]] = []
    for before_end, *levels in count_levels(
        train_N, starts_D, vocab_size, max_order, [[(0, orders.middle)], [(0, len(train_N))], *parts]
    ):
        counted.append(levels)
        if before_end is None or not orders.score(before_end):
            break
    best = 1 + int(np.argmin(orders.nats))
    sizes = [len(train_N), *(sum(last - first for first, last in part) for part in parts)]
    return [
        KneserNey([level for level in levels[:best] if level is not None], vocab_size, size)
        for levels, size in zip(zip(*counted, strict=True), sizes, strict=True)
    ]


def nats_by_order(
    train_N: np.ndarray, vocab_size: int, starts_D: np.ndarray | None = None, max_order: int = MAX_ORDER
) -> list[float]:
    """The summed nats of the end of the training text under orders 1, 2, ..., counted in the text before it."""
    orders = _Orders(train_N, vocab_size, starts_D)
    for (level,) in count_levels(train_N, starts_D, vocab_size, max_order, [[(0, orders.middle)]]):
        if level is None or not orders.score(level):
            break
    return orders.nats


class _Orders:
    """How well each order predicts the end of a text, counted in the text before it."""

    def __init__(self, train_N: np.ndarray, vocab_size: int, starts_D: np.ndarray | None):
        self.middle = max(1, int(FIT_SHARE * len(train_N)))
        self.nats: list[float] = []
        end_N, end_starts_D = slice_documents(train_N, starts_D, self.middle, len(train_N))
        self._scorer = _Scorer(end_N, context_lengths(len(end_N), end_starts_D), vocab_size)

    def score(self, level: GramLevel) -> bool:
        """Score the next order; returns whether a longer one may be better."""
        self._scorer.look_up(level)
        self.nats.append(float(self._scorer.nats(level).sum()))
        if level.continuations is None or len(self.nats) > int(np.argmin(self.nats)) + PATIENCE:
            return False
        self._scorer.interpolate(level)
        return True


def _last_tokens(train_N: np.ndarray, starts_D: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    return slice_documents(train_N, starts_D, max(0, len(train_N) - FIT_TOKENS), len(train_N))


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
