"""Training, validation and test splits of a text.

A stream is cut into contiguous splits by characters. With `documents=lines`, a fixed shuffle assigns the lines: lists
are often sorted, and the end of a sorted list is no fair sample of it.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.config import CorpusSettings
from seqlab.data.file_names import first_names
from seqlab.data.files import split_lines
from seqlab.data.text.corpus import Corpus, CorpusStats, measure_corpus, unchanged
from seqlab.data.text.scatter import MIN_STRETCH, MIN_STRETCHES, SHARE, Range, Scattering, scatter
from seqlab.errors import DataError
from seqlab.tokenization.tokenizer import chunk_text
from seqlab.wording import counted

MIN_CHARACTERS = 64
MIN_LINES = 10
MAX_CHECKED = 20_000  # windows or lines of a long held-out split that are searched in the training split
SHUFFLE_SEED = 0
WITHOUT_CR = r'{sub(/\r$/, "")}'  # for awk: equal lines may end in other ways
TESTED_TWICE = "what is chosen on validation is chosen on this part of the test, too"
# where each split ends, in percent of the whole
SPLIT_ENDS = {
    "90/10": {"train": 90, "validation": 100},
    "80/10/10": {"train": 80, "validation": 90, "test": 100},
    "90/5/5": {"train": 90, "validation": 95, "test": 100},  # of the bytes: enwik8 is split so
}
WHOLE = {"whole": 100}  # a text to score


@dataclass(frozen=True)
class SplitText:
    """A corpus with its splits. A split of a stream has one segment, or several that are scattered over the text;
    `segments` and `blocks` read them, `lines` reads documents."""

    corpus: Corpus
    settings: CorpusSettings
    stats: CorpusStats
    is_whole: bool = False  # one split, `whole`, to be scored, whatever the settings say of shares

    @property
    def notes(self) -> list[str]:
        """What reading corrected and how the text was split, for the log."""
        return [*self.reading_notes, *self._document_notes]

    @property
    def reading_notes(self) -> list[str]:
        """The notes on files and on a stream, without those that need every line."""
        fixes = self.corpus.fixes
        notes = [*fixes.notes(), *join_notes(self.corpus.paths, fixes.added_newlines)]
        if not self._wants_scattering:
            return notes
        scattering, characters = self.scattering, f"the text has {self.stats.characters:,} characters"
        if scattering is None:
            least = MIN_STRETCHES * MIN_STRETCH * SHARE
            return [*notes, f"{characters}, and scattered stretches need {least:,}: the split is contiguous"]
        if scattering.is_sparse:
            notes.append(f"the text is short: {scattering.count} stretches of each held-out split")
        return [*notes, f"split {self.rule}"]

    @property
    def _document_notes(self) -> list[str]:
        """Which lines are skipped or in two splits, if lines are documents."""
        if not self.by_lines:
            return []
        empty = self.count_empty_lines()
        lines = f"skipped {counted(empty, 'line')}, empty or of spaces alone: every other line is a document"
        notes = [lines] if empty else []
        for split, earlier in compared_splits(self.splits):
            checked, repeated = repeated_lines(self, split, self, earlier)
            if repeated:
                are, share = "is" if repeated == 1 else "are", f"{repeated / checked:.1%}"
                of, so = ("training", "new lines will be harder") if earlier == "train" else (earlier, TESTED_TWICE)
                notes.append(
                    f"{repeated:,} of {checked:,} {split} lines ({share}) {are} also in the {of} split: {so}. To leave "
                    f"out repeated lines: {self.without_repeats(split, earlier)}"
                )
        return notes

    def without_repeats(self, split: str, earlier: str) -> str:
        """The command that removes lines of a split that an earlier one has, too."""
        return f"awk '{WITHOUT_CR} !seen[$0]++' FILE > NEW"

    def count_empty_lines(self) -> int:
        """Also those of white space alone."""
        return sum(not line.strip() for line in split_lines(self.corpus.blocks()))

    def facts(self) -> dict[str, Any]:
        """Sizes, fingerprint and the rule of the split, for config.json."""
        unused = self.scattering.unused if self.scattering else 0
        return {**asdict(self.stats), "rule": self.rule, "unused_characters": unused}

    def fingerprint_of(self, split: str) -> str:
        """SHA-256 of one split alone."""
        digest = hashlib.sha256()
        for block in self.blocks(split):
            digest.update(block.encode())
        return digest.hexdigest()

    @property
    def rule(self) -> str:
        """How the text was split, in words."""
        ratios = "whole" if self.is_whole else self.settings.split_ratios
        if self.by_lines:
            return f"{ratios}, by lines"
        if self.scattering is None:
            return f"{ratios}, contiguous{', by bytes' * self._by_bytes}"
        held_out = " and ".join(self.splits[1:])
        unused = f"{self.scattering.unused:,} characters in gaps around them are not used"
        return f"{ratios}, {held_out} in {self.scattering}{' each' * (len(self.splits) > 2)}; {unused}"

    @property
    def splits(self) -> list[str]:
        return list(self._ends)

    @property
    def _ends(self) -> Mapping[str, int]:
        return WHOLE if self.is_whole else SPLIT_ENDS[self.settings.split_ratios]

    @property
    def by_lines(self) -> bool:
        return self.settings.documents == "lines"

    @property
    def _wants_scattering(self) -> bool:
        return self.settings.split == "scattered" and not self.by_lines and self.splits[0] == "train"

    @cached_property
    def scattering(self) -> Scattering | None:
        """Where the splits lie if they are scattered, as asked for, and the text is long enough."""
        return scatter(self.stats.characters, self.splits[1:]) if self._wants_scattering else None

    def ranges(self, split: str) -> list[Range]:
        """The characters of each segment of a stream."""
        if self.scattering is not None:
            return self.scattering.ranges[split]
        if self._by_bytes:
            first, last = self._bounds(split, self.stats.bytes)
            return [(self._character_ends[first], self._character_ends[last])]
        return [self._bounds(split, self.stats.characters)]

    @property
    def _by_bytes(self) -> bool:
        return self.settings.split_ratios == "90/5/5" and not self.by_lines and not self.is_whole

    @cached_property
    def _character_ends(self) -> dict[int, int]:
        """The number of characters that end within the first bytes, for each byte at which a split begins or ends."""
        offsets = {offset for split in self.splits for offset in self._bounds(split, self.stats.bytes)}
        return count_characters(self.corpus.blocks(), sorted(offsets))

    def segments(self, split: str) -> Iterator[Iterator[str]]:
        """The text of each segment, in blocks. Read one before asking for the next: the corpus is read only once."""
        if self.by_lines:
            yield (line + "\n" for line in self.lines(split))
            return
        blocks = self.corpus.blocks()
        pieces = slice_ranges(blocks, self.ranges(split))
        for _, segment in groupby(pieces, key=lambda piece: piece[0]):
            yield (block for _, block in segment)
        for _ in blocks:  # the end says whether the text has changed
            pass

    def blocks(self, split: str) -> Iterator[str]:
        """The text of a split, its segments joined; documents end with their newlines."""
        return chain.from_iterable(self.segments(split))

    def chunks(self, split: str) -> Iterator[str]:
        """The documents of a split, or its text in chunks that a tokenizer can encode one by one."""
        if self.by_lines:
            return self.lines(split)
        return chain.from_iterable(map(chunk_text, self.segments(split)))

    def lines(self, split: str) -> Iterator[str]:
        """The documents of a split in the order of the corpus; lines of white space alone are skipped."""
        first, last = self._bounds(split, self.stats.lines)
        rank_N = np.random.default_rng(SHUFFLE_SEED).permutation(self.stats.lines)
        for index, line in enumerate(split_lines(self.corpus.blocks())):
            if first <= rank_N[index] < last and line.strip():
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
        ends = [total * percent // 100 for percent in self._ends.values()]
        return (ends[index - 1] if index else 0), ends[index]


def join_notes(paths: Sequence[Path], added_newlines: int) -> list[str]:
    """What joining files did, if there are several."""
    added = f"; added {counted(added_newlines, 'newline')} after files that end without one" if added_newlines else ""
    joined = f"joined {len(paths):,} files into one text: {first_names([str(path) for path in paths])}"
    return [joined + added] if len(paths) > 1 else []


def split_text(corpus: Corpus, settings: CorpusSettings, is_whole: bool = False) -> SplitText:
    """Read the corpus once and fix its splits, or keep it whole, to be scored; DataError if it is too short."""
    stats = measure_corpus(corpus)
    corpus = unchanged(corpus, stats)
    if is_whole:
        if stats.characters < 2:
            raise DataError(
                f"'{corpus.where}' has {counted(stats.characters, 'character')}: there is nothing to score. Give a "
                f"longer text."
            )
        return SplitText(corpus, settings, stats, is_whole)
    if stats.characters < MIN_CHARACTERS:
        raise DataError(
            f"'{corpus.where}' has {counted(stats.characters, 'character')}; training needs at least {MIN_CHARACTERS}, "
            f"and some thousands to learn anything. Give a longer text, or try a built-in one, such as toy-words."
        )
    if not any(block.strip() for block in corpus.blocks()):
        raise DataError(f"'{corpus.where}' has {stats.characters:,} characters, all of them spaces or line ends.")
    if settings.documents == "lines" and stats.lines < MIN_LINES:
        lines = counted(stats.lines, "line")
        raise DataError(f"'{corpus.where}' has {lines}; --documents lines needs at least {MIN_LINES}.")
    return SplitText(corpus, settings, stats)


def compared_splits(splits: Collection[str]) -> list[tuple[str, str]]:
    """The held-out splits, each with the splits before it, which it should not repeat."""
    pairs = (("validation", "train"), ("test", "train"), ("test", "validation"))
    return [pair for pair in pairs if pair[0] in splits and pair[1] in splits]


def repeated_lines(text: SplitText, split: str, training: SplitText, earlier: str = "train") -> tuple[int, int]:
    """How many lines of a split were looked up, evenly spaced in a long one, and how many are in training too, or in
    another split."""
    every = max(1, sum(1 for _ in text.lines(split)) // MAX_CHECKED)
    checked = Counter(line for index, line in enumerate(text.lines(split)) if index % every == 0)
    repeated = {line for line in training.lines(earlier) if line in checked}
    return checked.total(), sum(checked[line] for line in repeated)


def count_characters(blocks: Iterable[str], offsets: Sequence[int]) -> dict[int, int]:
    """How many characters end within the first bytes of a text in UTF-8, for each of these numbers of bytes."""
    counts: dict[int, int] = dict.fromkeys(offsets, 0)
    characters = size = 0
    for block in blocks:
        raw = block.encode()
        for offset in offsets:
            if size < offset <= size + len(raw):
                counts[offset] = characters + len(raw[: offset - size].decode(errors="ignore"))
        characters, size = characters + len(block), size + len(raw)
    return counts


def slice_text(blocks: Iterable[str], first: int, last: int) -> Iterator[str]:
    """The characters from `first` up to `last`, in blocks."""
    return (inside for _, inside in slice_ranges(blocks, [(first, last)]))


def slice_ranges(blocks: Iterable[str], ranges: Sequence[Range]) -> Iterator[tuple[int, str]]:
    """The characters of each range in blocks, with the number of the range; ranges are in order and do not overlap."""
    position = number = 0
    for block in blocks:
        while number < len(ranges) and ranges[number][0] < position + len(block):
            first, last = ranges[number]
            if inside := block[max(first - position, 0) : max(last - position, 0)]:
                yield number, inside
            if last > position + len(block):
                break
            number += 1
        if number == len(ranges):
            return
        position += len(block)
