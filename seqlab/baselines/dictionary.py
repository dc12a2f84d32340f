"""Translation without a model of sentences: the source as it is, or word by word.

The dictionary is IBM Model 1 (Brown et al. 1993): every target word comes from one of the source's words, or from an
empty one that every source has, and t(target | source) is what makes the training pairs most likely. By
expectation-maximisation: a target word is shared among its sentence's source words in proportion to t, and t becomes
the share of each target word in what its source word got.

L: links, one for each target word of a pair with each source word; P: different links; W: target words of all pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.data.examples.example import TextPair

ITERATIONS = 5
FIT_LINKS = 20_000_000  # with more than these, no further pairs are read
NULL = ""  # the empty source word, which no text has


class Copy:
    """The source as it is."""

    about = "the source as it is, which is right where names and numbers are"

    def translate(self, text: str) -> str:
        return text


class Dictionary:
    """For each known source word its most probable target word and that probability; other words are copied."""

    def __init__(self, entries: Mapping[str, tuple[str, float]], about: str):
        self.entries, self.about = entries, about

    @classmethod
    def fit(cls, pairs: Sequence[TextPair], iterations: int = ITERATIONS) -> "Dictionary":
        links = Links.of(pairs)
        entries = links.best(expectation_maximization(links, iterations))
        about = f"word by word, each by its most probable translation ({iterations} iterations of IBM Model 1)"
        if links.pairs < len(pairs):
            about += f"; learnt from the first {links.pairs:,} training pairs"
        return cls(entries, about)

    def translate(self, text: str) -> str:
        return " ".join(self.entries[word][0] if word in self.entries else word for word in text.split())


@dataclass(frozen=True)
class Links:
    """What each link joins: a target word's place in the text (W), and one of the different links (P)."""

    sources: list[str]
    targets: list[str]
    place_L: np.ndarray
    kind_L: np.ndarray
    source_P: np.ndarray
    target_P: np.ndarray
    pairs: int

    @classmethod
    def of(cls, pairs: Sequence[TextPair]) -> "Links":
        """Of words split at whitespace."""
        sources: dict[str, int] = {NULL: 0}
        targets: dict[str, int] = {}
        source_L, target_L, place_L = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        places = links = read = 0
        for pair in pairs:
            if links > FIT_LINKS:
                break
            from_ = [0, *(sources.setdefault(word, len(sources)) for word in pair.source.split())]
            to = [targets.setdefault(word, len(targets)) for word in pair.target.split()]
            source_L.append(np.tile(np.array(from_, np.int32), len(to)))
            target_L.append(np.repeat(np.array(to, np.int32), len(from_)))
            place_L.append(np.repeat(np.arange(places, places + len(to), dtype=np.int32), len(from_)))
            places, links, read = places + len(to), links + len(from_) * len(to), read + 1
        keys_L = np.concatenate(source_L).astype(np.int64) * max(len(targets), 1) + np.concatenate(target_L)
        keys_P, kind_L = np.unique(keys_L, return_inverse=True)
        source_P, target_P = np.divmod(keys_P, max(len(targets), 1))
        return cls(list(sources), list(targets), np.concatenate(place_L), kind_L, source_P, target_P, read)

    def best(self, t_P: np.ndarray) -> dict[str, tuple[str, float]]:
        """By source word: the target word with the highest t, of equals the one that was read first."""
        order_P = np.lexsort((self.target_P, -t_P, self.source_P))
        _, firsts = np.unique(self.source_P[order_P], return_index=True)
        return {
            self.sources[self.source_P[p]]: (self.targets[self.target_P[p]], float(t_P[p]))
            for p in order_P[firsts]
            if self.source_P[p] != 0  # what the empty word gives is nobody's translation
        }


def expectation_maximization(links: Links, iterations: int) -> np.ndarray:
    """t(target | source) of the different links; at first the same for all."""
    t_P = np.ones(len(links.source_P))
    for _ in range(iterations):
        t_L = t_P[links.kind_L]
        share_L = t_L / np.bincount(links.place_L, t_L)[links.place_L]
        expected_P = np.bincount(links.kind_L, share_L, len(t_P))
        t_P = expected_P / np.bincount(links.source_P, expected_P)[links.source_P]
    return t_P
