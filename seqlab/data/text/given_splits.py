"""Splits from files of their own (train.txt, valid.txt, test.txt), as benchmarks publish them.

`read_text` opens the text of a run, whether its splits are given or cut from one text.
"""

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from seqlab.config import CorpusSettings
from seqlab.data.corpora.large_text import open_large
from seqlab.data.corpora.when_sharded import is_sharded, unread_rows
from seqlab.data.file_names import first_names
from seqlab.data.files import STANDARD_INPUT
from seqlab.data.new_files import new_file
from seqlab.data.split_files import SPLIT_WORDS
from seqlab.data.text.corpus import Corpus, CorpusStats, open_corpus, unchanged
from seqlab.data.text.scatter import Range
from seqlab.data.text.split import MIN_CHARACTERS, WITHOUT_CR, SplitText, split_text
from seqlab.errors import DataError, UsageError
from seqlab.wording import counted


@dataclass(frozen=True)
class GivenSplits(SplitText):
    """Splits in texts of their own; `stats` are totals, and the fingerprint covers all texts.

    `texts` has no validation if no file is given for it: the training text is then cut into both."""

    texts: Mapping[str, SplitText] = field(kw_only=True)

    @property
    def notes(self) -> list[str]:
        given = ", ".join(f"{split}: {_describe(text)}" for split, text in self.texts.items())
        share = [] if "validation" in self.texts else ["no validation file: a tenth of the training text is held out"]
        reading = [note for text in self.texts.values() for note in text.reading_notes]
        return [given, *share, *reading, *self._document_notes]

    def without_repeats(self, split: str, earlier: str) -> str:
        files = [self.texts[name].corpus.paths for name in (earlier, split) if name in self.texts]
        if len(files) < 2 or any(len(paths) != 1 or paths[0].suffix == ".gz" for paths in files):
            return super().without_repeats(split, earlier)  # both are cut from one text, or it takes several commands
        names = " ".join(shlex.quote(str(paths[0])) for paths in files)
        return f"awk '{WITHOUT_CR} NR == FNR {{seen[$0]; next}} !($0 in seen)' {names} > {new_file(files[1][0].suffix)}"

    def count_empty_lines(self) -> int:
        return sum(text.count_empty_lines() for text in self.texts.values())

    @property
    def rule(self) -> str:
        if "validation" in self.texts:
            return f"{' and '.join(self.splits[1:])} from files"
        return f"test from files; train and validation {self.texts['train'].rule}"

    @property
    def splits(self) -> list[str]:
        return ["train", "validation", *(["test"] if "test" in self.texts else [])]

    def facts(self) -> dict[str, Any]:
        unused = sum(text.facts()["unused_characters"] for text in self.texts.values())
        about = {**asdict(self.stats), "rule": self.rule, "unused_characters": unused}
        return {**about, "files": {split: text.facts() for split, text in self.texts.items()}}

    @property
    def _wants_scattering(self) -> bool:
        return False  # the splits are given; a training text without validation scatters by itself

    def ranges(self, split: str) -> list[Range]:
        text, name = self._locate(split)
        return text.ranges(name)

    def segments(self, split: str) -> Iterator[Iterator[str]]:
        text, name = self._locate(split)
        return text.segments(name)

    def lines(self, split: str) -> Iterator[str]:
        text, name = self._locate(split)
        return text.lines(name)

    def _locate(self, split: str) -> tuple[SplitText, str]:
        """The text that contains a split, and the name of the split in it."""
        text = self.texts.get(split, self.texts["train"])
        return text, split if split in text.splits else "whole"


def read_text(settings: CorpusSettings, stdin_copy: Path | None = None) -> SplitText:
    """The text of a run in its splits; `stdin_copy` is where the run has saved its standard input."""
    if is_sharded(settings):
        return open_large(settings)
    left_out = unread_rows(settings)
    corpus = open_corpus(settings.source, stdin_copy, settings.layout, left_out)
    if not settings.validation and not settings.test:
        return split_text(corpus, settings)
    corpus = replace(corpus, name=_name(settings.source, corpus.name))
    cut = settings.model_copy(update={"validation": (), "test": (), "split_ratios": "90/10"})
    texts = {"train": split_text(corpus, cut, is_whole=True) if settings.validation else split_text(corpus, cut)}
    if texts["train"].stats.characters < MIN_CHARACTERS:
        split_text(corpus, cut)  # says that the text is too short
    for split, files in (("validation", settings.validation), ("test", settings.test)):
        if STANDARD_INPUT in files:
            raise UsageError(f"only the training text can be standard input, '-': name a file for corpus.{split}.")
        if files:
            given = open_corpus(files, layout=settings.layout, left_out=left_out)
            texts[split] = split_text(given, cut.model_copy(update={"source": files}), is_whole=True)
    _refuse_copies(texts)
    _refuse_shared_files(texts)
    stats = [text.stats for text in texts.values()]
    fingerprint = hashlib.sha256("\n".join(part.fingerprint for part in stats).encode()).hexdigest()
    characters, size, lines = (
        sum(sizes) for sizes in zip(*((p.characters, p.bytes, p.lines) for p in stats), strict=True)
    )
    return GivenSplits(corpus, settings, CorpusStats(characters, size, lines, fingerprint), texts=texts)


def read_whole(source: tuple[str, ...], settings: CorpusSettings) -> SplitText:
    """Another text as one split, `whole`, read as the settings of a run say."""
    read_as = settings.model_dump(include={"layout", "documents", "text_column", "skip_limit"})
    whole = CorpusSettings(source=source, **read_as)
    if is_sharded(whole):
        return open_large(whole, is_whole=True)
    return split_text(open_corpus(source, layout=whole.layout, left_out=unread_rows(whole)), whole, is_whole=True)


def with_training_corpus(text: SplitText, corpus: Corpus) -> SplitText:
    """The same splits, with the text (the training text, if others are given) read from another place."""
    if isinstance(text, GivenSplits):
        train = with_training_corpus(text.texts["train"], corpus)
        return replace(text, corpus=corpus, texts={**text.texts, "train": train})
    return replace(text, corpus=unchanged(corpus, text.stats))


def _refuse_shared_files(texts: Mapping[str, SplitText]) -> None:
    """UsageError if a file belongs to two splits, such as one of a training folder that is held out, too."""
    for (one, first), (other, second) in combinations(texts.items(), 2):
        files = {path.resolve(): path for path in first.corpus.paths}
        if shared := [path for path in second.corpus.paths if path.resolve() in files]:
            raise UsageError(
                f"'{shared[0]}' belongs to {one} and to {other}: a model would be scored on what it has seen. Name the "
                f"files of each split, so that no file is in two: '{' '.join(first.settings.source)}' has "
                f"{counted(len(first.corpus.paths), 'file')}, {first_names([path.name for path in files.values()])}."
            )


def _refuse_copies(texts: Mapping[str, SplitText]) -> None:
    """DataError if two splits have the same text."""
    for (one, first), (other, second) in combinations(texts.items(), 2):
        if first.stats.fingerprint == second.stats.fingerprint:
            raise DataError(
                f"{one} and {other} are the same text, {_describe(first)} and {_describe(second)}: a model would be "
                f"scored on what it has seen. Give different files."
            )


def _describe(text: SplitText) -> str:
    return f"{' '.join(text.settings.source)} ({counted(text.stats.characters, 'character')})"


def _name(source: Sequence[str], name: str) -> str:
    """The corpus's name; for train.txt, that of its folder."""
    if len(source) == 1 and name.lower() in SPLIT_WORDS and (folder := Path(source[0]).resolve().parent.name):
        return folder
    return name
