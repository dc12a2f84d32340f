"""Training, validation and test splits of a text.

A stream is cut into contiguous splits by characters. With `documents=lines`, a fixed shuffle assigns the lines: lists
are often sorted, and the end of a sorted list is no fair sample of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seqlab.config import CorpusSettings
from seqlab.data.files import split_lines
from seqlab.data.text.corpus import Corpus, CorpusStats, measure_corpus
from seqlab.errors import DataError

MIN_CHARACTERS = 64
MIN_LINES = 10
SHUFFLE_SEED = 0
# where each split ends, in tenths of the whole
SPLIT_ENDS = {
    "90/10": {"train": 9, "validation": 10},
    "80/10/10": {"train": 8, "validation": 9, "test": 10},
    "whole": {"whole": 10},  # a text to score
}


@dataclass(frozen=True)
class SplitText:
    """A corpus with its splits; `blocks` reads a split's text, `lines` its documents."""

    corpus: Corpus
    settings: CorpusSettings
    stats: CorpusStats

    @property
    def splits(self) -> list[str]:
        return list(SPLIT_ENDS[self.settings.split_ratios])

    @property
    def by_lines(self) -> bool:
        return self.settings.documents == "lines"

    def blocks(self, split: str) -> Iterator[str]:
        """The text of a split; documents end with their newlines."""
        if self.by_lines:
            yield from (line + "\n" for line in self.lines(split))
            return
        yield from slice_text(self.corpus.blocks(), *self._bounds(split, self.stats.characters))

    def lines(self, split: str) -> Iterator[str]:
        """The documents of a split in the order of the corpus; empty lines are skipped."""
        first, last = self._bounds(split, self.stats.lines)
        rank_N = np.random.default_rng(SHUFFLE_SEED).permutation(self.stats.lines)
        for index, line in enumerate(split_lines(self.corpus.blocks())):
            if first <= rank_N[index] < last and line:
                yield line

    def text(self, split: str, limit: int | None = None) -> str:
        """A split in memory, or its first `limit` characters."""
        blocks: list[str] = []
        size = 0
        for block in self.blocks(split):
            blocks.append(block)
            size += len(block)
            if limit is not None and size >= limit:
                break
        return "".join(blocks)[:limit]

    def tail(self, split: str, limit: int) -> str:
        """The last `limit` characters of a split, with at most twice as many in memory."""
        tail = ""
        for block in self.blocks(split):
            tail += block
            if len(tail) > 2 * limit:
                tail = tail[-limit:]
        return tail[-limit:]

    def _bounds(self, split: str, total: int) -> tuple[int, int]:
        index = self.splits.index(split)
        ends = [total * tenths // 10 for tenths in SPLIT_ENDS[self.settings.split_ratios].values()]
        return (ends[index - 1] if index else 0), ends[index]


def split_text(corpus: Corpus, settings: CorpusSettings) -> SplitText:
    """Read the corpus once and fix its splits; DataError if it is too short."""
    stats = measure_corpus(corpus)
    if settings.split_ratios == "whole":
        if stats.characters < 2:
            raise DataError(f"'{corpus.name}' has {stats.characters} characters: there is nothing to score.")
        return SplitText(corpus, settings, stats)
    if stats.characters < MIN_CHARACTERS:
        raise DataError(
            f"'{corpus.name}' has {stats.characters} characters; training needs at least {MIN_CHARACTERS}, and some "
            f"thousands to learn anything. Give a longer text, or try a built-in one: seqlab train toy-words"
        )
    if settings.documents == "lines" and stats.lines < MIN_LINES:
        raise DataError(f"'{corpus.name}' has {stats.lines} lines; --documents lines needs at least {MIN_LINES}.")
    return SplitText(corpus, settings, stats)


def slice_text(blocks: Iterator[str], first: int, last: int) -> Iterator[str]:
    """The characters from `first` up to `last`, in blocks."""
    position = 0
    for block in blocks:
        inside = block[max(first - position, 0) : max(last - position, 0)]
        position += len(block)
        if inside:
            yield inside
        if position >= last:
            return
