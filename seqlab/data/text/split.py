"""Which text is for training and which is held out.

A stream is cut into contiguous parts by characters. Lines that stand for themselves are dealt out by a fixed
shuffle instead: lists are often sorted, and the end of a sorted list is no fair sample of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seqlab.config import CorpusSettings
from seqlab.data.text.corpus import Corpus, Survey, survey
from seqlab.errors import DataError

FEWEST_CHARACTERS = 64
SHUFFLE_SEED = 0
# each part's end in tenths of the whole
ENDS = {
    "90/10": {"train": 9, "validation": 10},
    "80/10/10": {"train": 8, "validation": 9, "test": 10},
    "whole": {"whole": 10},  # a text that is only scored
}


@dataclass(frozen=True)
class SplitText:
    """A corpus with its parts; `blocks` reads any part's text, `lines` that of documents."""

    corpus: Corpus
    settings: CorpusSettings
    survey: Survey

    @property
    def splits(self) -> list[str]:
        return list(ENDS[self.settings.split_ratios])

    @property
    def by_lines(self) -> bool:
        return self.settings.documents == "lines"

    def blocks(self, part: str) -> Iterator[str]:
        """A part's text; of documents, its lines with their newlines."""
        if self.by_lines:
            yield from (line + "\n" for line in self.lines(part))
            return
        yield from stretch(self.corpus.blocks(), *self._bounds(part, self.survey.characters))

    def lines(self, part: str) -> Iterator[str]:
        """A part's documents in the corpus's order; empty lines are no documents."""
        first, last = self._bounds(part, self.survey.lines)
        rank_N = np.random.default_rng(SHUFFLE_SEED).permutation(self.survey.lines)
        for number, line in enumerate(_lines(self.corpus.blocks())):
            if first <= rank_N[number] < last and line:
                yield line

    def text(self, part: str, limit: int | None = None) -> str:
        """A part in memory, or its first `limit` characters."""
        found: list[str] = []
        size = 0
        for block in self.blocks(part):
            found.append(block)
            size += len(block)
            if limit is not None and size >= limit:
                break
        return "".join(found)[:limit]

    def ending(self, part: str, limit: int) -> str:
        """The last `limit` characters of a part; no more than twice that is held in memory."""
        kept = ""
        for block in self.blocks(part):
            kept += block
            if len(kept) > 2 * limit:
                kept = kept[-limit:]
        return kept[-limit:]

    def _bounds(self, part: str, total: int) -> tuple[int, int]:
        index = self.splits.index(part)
        ends = [total * tenths // 10 for tenths in ENDS[self.settings.split_ratios].values()]
        return (ends[index - 1] if index else 0), ends[index]


def split_text(corpus: Corpus, settings: CorpusSettings) -> SplitText:
    """Read the corpus once and settle its parts; DataError if there is too little of it."""
    read = survey(corpus)
    if settings.split_ratios == "whole":
        if read.characters < 2:
            raise DataError(f"'{corpus.name}' has {read.characters} characters: there is nothing to score.")
    elif read.characters < FEWEST_CHARACTERS:
        raise DataError(
            f"'{corpus.name}' has {read.characters} characters; training needs at least {FEWEST_CHARACTERS}, and some "
            f"thousands to learn anything. Give a longer text, or try a built-in one: seqlab train toy-words"
        )
    split = SplitText(corpus, settings, read)
    if split.by_lines and settings.split_ratios != "whole" and read.lines < 10:
        raise DataError(f"'{corpus.name}' has {read.lines} lines; --documents lines needs at least 10.")
    return split


def stretch(blocks: Iterator[str], first: int, last: int) -> Iterator[str]:
    """The characters of a text from `first` up to `last`."""
    at = 0
    for block in blocks:
        piece = block[max(first - at, 0) : max(last - at, 0)]
        at += len(block)
        if piece:
            yield piece
        if at >= last:
            return


def _lines(blocks: Iterator[str]) -> Iterator[str]:
    tail: list[str] = []
    for block in blocks:
        *complete, rest = block.split("\n")
        for line in complete:
            yield "".join(tail) + line
            tail = []
        if rest:
            tail.append(rest)
    if tail:
        yield "".join(tail)
