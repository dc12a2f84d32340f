"""Kneser-Ney probabilities as a table: what each gram adds, and the share that each context leaves to a shorter one.

p(w | h) = value(h w) + backoff(h) p(w | h'), where value(h w) = (c - D(c)) / Σ c and backoff(h) = Σ D(c) / Σ c, and h'
is h without its oldest token. A gram that is pruned adds nothing, and its context's backoff grows by as much.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from seqlab.baselines.kneser_ney import KneserNey
from seqlab.errors import DataError
from seqlab.kernels.grams import Grams

GRAM_BYTES, CONTEXT_BYTES = 8, 8  # of a token and a value, of a range and a backoff
EMPTY_BYTES = 12  # of the empty context and the end of the last range


@dataclass(frozen=True)
class GramTable:
    """The grams of 1 to `order` tokens and their contexts: the empty one, then all grams but the longest, in the same
    order."""

    grams: Grams
    order: int
    vocab_size: int
    pruned: int = 0  # grams that were left out

    @classmethod
    def from_counts(cls, counts: KneserNey, max_bytes: int | None = None) -> Self:
        """All grams, or those that matter most within `max_bytes`."""
        levels = _levels(counts)
        kept = [np.ones(len(level.tokens_G), bool) for level in levels]
        if max_bytes is not None:
            kept = _most_important(levels, max_bytes)
        tokens, values, children, backoffs = [], [], [], []
        first, context_is_kept_C = 0, np.ones(1, bool)
        for level, kept_G in zip(levels, kept, strict=True):
            values_G = np.where(kept_G, level.values_G, 0)
            grams_C = np.bincount(level.contexts_G, kept_G, len(level.backoff_C)).astype(np.int64)
            lost_C = np.bincount(level.contexts_G, level.values_G - values_G, len(level.backoff_C))
            tokens.append(level.tokens_G[kept_G])
            values.append(values_G[kept_G])
            children.append(first + (np.cumsum(grams_C) - grams_C)[context_is_kept_C])
            backoffs.append((level.backoff_C + lost_C)[context_is_kept_C])
            first += int(kept_G.sum())
            context_is_kept_C = kept_G
        grams = Grams(
            np.concatenate(tokens).astype(np.int32),
            np.concatenate(values).astype(np.float32),
            np.append(np.concatenate(children), first).astype(np.int32),
            np.concatenate(backoffs).astype(np.float32),
        )
        return cls(grams, counts.order, counts.vocab_size, sum(map(len, kept)) - first)

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.grams)

    def tensors(self) -> dict[str, Tensor]:
        """What a file stores."""
        facts = torch.tensor([self.order, self.vocab_size, self.pruned])
        return {"facts": facts, **{name: torch.from_numpy(array) for name, array in self.grams._asdict().items()}}

    @classmethod
    def from_tensors(cls, stored: Mapping[str, Tensor], path: Path) -> Self:
        """The inverse of `tensors`; DataError if a lookup could leave the arrays, because kernels do not check."""
        order, vocab_size, pruned = stored["facts"].tolist()
        grams = Grams(*(stored[name].numpy() for name in Grams._fields))
        tokens_G, values_G, children_C, backoff_C = grams
        in_order = len(children_C) == len(backoff_C) + 1 and children_C[0] == 0 and (np.diff(children_C) >= 0).all()
        fits = (
            *(in_order, len(tokens_G) == len(values_G) == children_C[-1], 1 <= order <= 64, len(tokens_G) > 0),
            *(len(backoff_C) <= len(tokens_G) + 1, vocab_size > 0, pruned >= 0),
        )
        if not all(fits) or not (tokens_G.min() >= 0 and tokens_G.max() < vocab_size):
            raise DataError(f"'{path}' is damaged: it is not a table of grams.")
        if not (_is_share(values_G) and _is_share(backoff_C)):
            raise DataError(f"'{path}' is damaged: its values are not between 0 and 1.")
        return cls(grams, order, vocab_size, pruned)


def _is_share(values: np.ndarray) -> bool:
    return bool((values >= 0).all() and (values <= 1 + 1e-5).all())  # false for NaN, too


@dataclass(frozen=True)
class _Level:
    """The grams of one length: their contexts among the grams that are one token shorter, the last tokens, how often
    they occur, and the values; and of those contexts the backoff."""

    contexts_G: np.ndarray
    tokens_G: np.ndarray
    occurrences_G: np.ndarray
    values_G: np.ndarray
    backoff_C: np.ndarray


def _levels(counts: KneserNey) -> list[_Level]:
    levels: list[_Level] = []
    for number, level in enumerate(counts.levels, 1):
        used = level.occurrences if number == counts.order or level.continuations is None else level.continuations
        contexts_G, tokens_G = np.divmod(level.keys_G, counts.vocab_size)
        discount_G = used.discount(used.counts_G)
        total_C = np.maximum(np.bincount(contexts_G, used.counts_G, level.contexts), 1e-9)
        is_used_C = np.bincount(contexts_G, used.counts_G, level.contexts) > 0
        values_G = (used.counts_G - discount_G) / total_C[contexts_G]
        backoff_C = np.where(is_used_C, np.bincount(contexts_G, discount_G, level.contexts) / total_C, 1.0)
        levels.append(_Level(contexts_G, tokens_G, level.occurrences.counts_G, values_G, backoff_C))
    return levels


def _most_important(levels: list[_Level], max_bytes: int) -> list[np.ndarray]:
    """Which grams to keep: those whose loss would cost the training text most, with all their contexts.

    Without a gram, its token has the probability backoff(h) p(w | h') instead of value(h w) + backoff(h) p(w | h'): the
    weighted difference of Seymore and Rosenfeld (1996)."""
    importance: list[np.ndarray] = []
    shorter_G, p_shorter_G = np.zeros(1, np.int64), np.array([1.0])  # of the level below; here of the empty context
    keys_below_G = np.zeros(1, np.int64)
    V = 1 + max(int(level.tokens_G.max()) for level in levels)
    for number, level in enumerate(levels):
        if number == 0:
            suffix_G, p_backoff_G = np.zeros(len(level.tokens_G), np.int64), np.full(len(level.tokens_G), 1 / V)
        else:
            suffix_G = np.searchsorted(keys_below_G, shorter_G[level.contexts_G] * V + level.tokens_G)
            p_backoff_G = p_shorter_G[suffix_G]
        backed_off_G = level.backoff_C[level.contexts_G] * p_backoff_G
        p_G = level.values_G + backed_off_G
        importance.append(level.occurrences_G * np.log(p_G / np.maximum(backed_off_G, 1e-300)))
        shorter_G, p_shorter_G = suffix_G, p_G
        keys_below_G = level.contexts_G * V + level.tokens_G
    importance[0][:] = np.inf  # every single token stays
    for level, importance_G, below_G in zip(levels[:0:-1], importance[:0:-1], importance[-2::-1], strict=True):
        np.maximum.at(below_G, level.contexts_G, importance_G)  # a gram stays as long as a longer one needs it
    longest = len(importance[-1])  # the only grams that are no contexts
    importance_N = np.concatenate(importance)
    bytes_N = np.full(len(importance_N), GRAM_BYTES + CONTEXT_BYTES)
    bytes_N[len(bytes_N) - longest :] = GRAM_BYTES
    descending = np.argsort(-importance_N, kind="stable")
    fitting = int(np.searchsorted(np.cumsum(bytes_N[descending]), max_bytes - EMPTY_BYTES, side="right"))
    threshold = importance_N[descending[fitting]] if fitting < len(descending) else -np.inf
    return [importance_G > threshold for importance_G in importance]
