"""Translation without a sentence model: copying the source, or word by word.

The dictionary is IBM Model 1 (Brown et al. 1993): every target word comes from one of the source words, or from an
empty word that every source has, and t(target | source) maximizes the likelihood of the training pairs. In each step of
expectation-maximization, a target word is shared among the source words in proportion to t, and t becomes the share of
each target word in the total of its source word.

L: links, one for each target word of a pair with each source word; P: distinct links; W: target words of all pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.data.examples.example import TextPair

ITERATIONS = 5
MAX_LINKS = 20_000_000  # no further pairs are read beyond these
MAX_PAIR_LINKS = 250_000  # a pair with more, such as 500 words on each side, is left out
NULL = ""  # the empty source word, which no text contains


class Copy:
    """Copies the source."""

    about = "a copy of the source, which is right for names and numbers"

    @classmethod
    def fit(cls, pairs: Sequence[TextPair]) -> "Copy":
        return cls()

    def predict(self, pairs: Sequence[TextPair]) -> list[str]:
        return [pair.source for pair in pairs]


class Dictionary:
    """The most probable target word of each source word, with its probability; unknown words are copied."""

    def __init__(self, entries: Mapping[str, tuple[str, float]], about: str):
        self.entries, self.about = entries, about

    @classmethod
    def fit(cls, pairs: Sequence[TextPair], iterations: int = ITERATIONS) -> "Dictionary":
        links = WordLinks.from_pairs(pairs)
        entries = links.best_translations(expectation_maximization(links, iterations))
        about = f"the most probable translation of each word ({iterations} iterations of IBM Model 1)"
        if links.pairs < len(pairs):
            about += f"; trained on the first {links.pairs:,} training pairs"
        if links.left_out:
            about += f"; training pairs left out, with more than {MAX_PAIR_LINKS:,} pairs of words: {links.left_out:,}"
        return cls(entries, about)

    def predict(self, pairs: Sequence[TextPair]) -> list[str]:
        return [" ".join(map(self._translate, pair.source.split())) for pair in pairs]

    def _translate(self, word: str) -> str:
        return self.entries[word][0] if word in self.entries else word


@dataclass(frozen=True)
class WordLinks:
    """Each link (L) has a target word's position in the text (W) and a distinct link (P)."""

    sources: list[str]
    targets: list[str]
    position_L: np.ndarray
    distinct_L: np.ndarray
    source_P: np.ndarray
    target_P: np.ndarray
    pairs: int  # that were read
    left_out: int  # of these, because they are too long

    @classmethod
    def from_pairs(cls, pairs: Sequence[TextPair]) -> "WordLinks":
        """Words are split at whitespace."""
        sources: dict[str, int] = {NULL: 0}
        targets: dict[str, int] = {}
        source_L, target_L, position_L = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        positions = links = read = left_out = 0
        for pair in pairs:
            if links > MAX_LINKS:
                break
            source, target = pair.source.split(), pair.target.split()
            if (len(source) + 1) * len(target) > MAX_PAIR_LINKS:
                read, left_out = read + 1, left_out + 1
                continue
            from_ = [0, *(sources.setdefault(word, len(sources)) for word in source)]
            to = [targets.setdefault(word, len(targets)) for word in target]
            source_L.append(np.tile(np.array(from_, np.int32), len(to)))
            target_L.append(np.repeat(np.array(to, np.int32), len(from_)))
            position_L.append(np.repeat(np.arange(positions, positions + len(to), dtype=np.int32), len(from_)))
            positions, links, read = positions + len(to), links + len(from_) * len(to), read + 1
        keys_L = np.concatenate(source_L).astype(np.int64) * max(len(targets), 1) + np.concatenate(target_L)
        keys_P, distinct_L = np.unique(keys_L, return_inverse=True)
        source_P, target_P = np.divmod(keys_P, max(len(targets), 1))
        return cls(
            list(sources), list(targets), np.concatenate(position_L), distinct_L, source_P, target_P, read, left_out
        )

    def best_translations(self, t_P: np.ndarray) -> dict[str, tuple[str, float]]:
        """By source word: the target word with the highest t, the first one of a tie."""
        order_P = np.lexsort((self.target_P, -t_P, self.source_P))
        _, firsts = np.unique(self.source_P[order_P], return_index=True)
        return {
            self.sources[self.source_P[p]]: (self.targets[self.target_P[p]], float(t_P[p]))
            for p in order_P[firsts]
            if self.source_P[p] != 0  # the empty word needs no translation
        }


def expectation_maximization(links: WordLinks, iterations: int) -> np.ndarray:
    """t(target | source) of the distinct links, starting from equal values."""
    t_P = np.ones(len(links.source_P))
    for _ in range(iterations):
        t_L = t_P[links.distinct_L]
        share_L = t_L / np.bincount(links.position_L, t_L)[links.position_L]
        expected_P = np.bincount(links.distinct_L, share_L, len(t_P))
        t_P = expected_P / np.bincount(links.source_P, expected_P)[links.source_P]
    return t_P
