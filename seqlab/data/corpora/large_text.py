"""A text that is larger than memory: its splits, by documents, and what is read of it again.

A document belongs to a split by its SHA-256, so equal documents are in one split, wherever they stand, and the split is
known before anything is counted. The text is read once, to encode it; its size and fingerprint come from there.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seqlab.config import CorpusSettings
from seqlab.data.corpora.documents import STRETCH, CorpusDocument
from seqlab.data.corpora.encoding import EncodedCorpus, encode_corpus, refuse_broken
from seqlab.data.corpora.faults import Faults
from seqlab.data.corpora.find import find_sources
from seqlab.data.corpora.plan import MAX_SAMPLE_BYTES, Span, divide, read_spans, sample_spans
from seqlab.data.corpora.pool import Log
from seqlab.data.corpora.shard import choose_split
from seqlab.data.corpora.sharded_tokens import ShardedTokens
from seqlab.data.corpora.source import TextSource, is_address
from seqlab.data.corpora.worker import CorpusPart
from seqlab.data.files import STANDARD_INPUT, InputFixes
from seqlab.data.text.corpus import Corpus, CorpusStats
from seqlab.data.text.split import SPLIT_ENDS, WHOLE, SplitText
from seqlab.errors import DataError, UsageError
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text
from seqlab.wording import counted

UNKNOWN = CorpusStats(0, 0, 0, "")  # before the text is encoded


@dataclass
class TokenizerSample:
    """The parts of the training text that a tokenizer is learned from, and how much text they were."""

    spans: list[tuple[str, int, int | None]]
    is_whole: bool
    documents: int = 0
    bytes: int = 0

    def __str__(self) -> str:
        size = f"{self.bytes / 1e6:,.1f} MB in {counted(self.documents, 'document')}"
        if self.is_whole:
            return f"the tokenizer was learned from the training text, {size}"
        places = counted(len(self.spans), "place")
        files = counted(len({name for name, _, _ in self.spans}), "file")
        return f"the tokenizer was learned from a sample of the training text: {size}, from {places} in {files}"


@dataclass(frozen=True)
class LargeText(SplitText):
    """A corpus in shards. `parts` are the sources of the splits that files are given for, and of all others."""

    parts: Mapping[str, CorpusPart] = field(default_factory=dict)
    log: Log = lambda _: None
    encoded: EncodedCorpus | None = None
    sample: TokenizerSample | None = None

    @property
    def notes(self) -> list[str]:
        rule = [] if self.is_whole else [f"split {self.rule}"]
        return [*self.corpus.fixes.notes(), *rule]

    @property
    def rule(self) -> str:
        if self.is_whole:
            return "whole"
        given = [split for split in self.parts if split in ("validation", "test")]
        rule = f"{' and '.join(given)} from files" if given else self.settings.split_ratios
        if len(self.parts["train"].ends) == 1:
            return rule
        files = f", train and validation {self.settings.split_ratios}" if given else ""
        return f"{rule}{files}, by the SHA-256 of each document (of a text file: of stretches of {STRETCH:,} bytes)"

    @property
    def splits(self) -> list[str]:
        named = {split: None for part in self.parts.values() for split in part.ends}
        return [split for split in ("train", "validation", "test", "whole") if split in named]

    @property
    def by_lines(self) -> bool:
        return False

    @property
    def _wants_scattering(self) -> bool:
        return False

    def facts(self) -> dict[str, Any]:
        sample = {} if self.sample is None else {"tokenizer_sample": vars(self.sample)}
        files = sum(len(part.sources) for part in self.parts.values())
        return {**super().facts(), "sharded_files": files, **sample}

    def fingerprint_of(self, split: str) -> str:
        return self.encoded.fingerprint(split) if self.encoded else super().fingerprint_of(split)

    # --- reading it again ---------------------------------------------------------------------------------------------

    def segments(self, split: str) -> Iterator[Iterator[str]]:
        """A split is one segment, from its first document to its last."""
        yield (document.text for document in self.documents(split))

    def lines(self, split: str) -> Iterator[str]:
        """The documents of a split."""
        return (document.text for document in self.documents(split))

    def documents(self, split: str) -> Iterator[CorpusDocument]:
        for part in self._parts_with(split):
            spans = [Span(number) for number in range(len(part.sources))]
            yield from _of_split(split, part, read_spans(part.sources, spans, Faults()))

    def tail(self, split: str, limit: int) -> str:
        """The last characters of a split, read from the last unit of work backward."""
        tail, size = deque[str](), 0
        for part in reversed(self._parts_with(split)):
            for unit in reversed(divide(part.sources)):
                texts = deque[str]()
                length = 0
                for document in _of_split(split, part, read_spans(part.sources, unit.spans, Faults())):
                    texts.append(document.text)
                    length += len(document.text)
                    while length - len(texts[0]) > limit:
                        length -= len(texts.popleft())
                tail.extendleft(reversed(texts))
                size += length
                if size >= limit:
                    return "".join(tail)[-limit:]
        return "".join(tail)[-limit:]

    def sampled(self, split: str = "train") -> Iterator[str]:
        """The documents of a sample of a split, evenly spaced over its files; `sample` counts them."""
        self_sample = self.sample
        for part in self._parts_with(split):
            for span in sample_spans(part.sources):
                room = MAX_SAMPLE_BYTES if span.last is None else span.last - span.first
                whole = span.last is None
                for document in _of_split(split, part, read_spans(part.sources, [span], Faults())):
                    if not whole and room <= 0:
                        break
                    room -= len(document.raw)
                    if self_sample is not None:
                        self_sample.documents += 1
                        self_sample.bytes += len(document.raw)
                    yield document.text

    def with_sample(self) -> "LargeText":
        """The text with an account of the sample that `sampled` reads, to be filled by reading it."""
        part = self._parts_with("train")[0]
        spans = sample_spans(part.sources)
        named = [(part.sources[span.source].name, span.first, span.last) for span in spans]
        return replace(self, sample=TokenizerSample(named, all(span.last is None for span in spans)))

    def sample_chunks(self, split: str = "train") -> Iterator[str]:
        """The sample in chunks that a tokenizer can encode one by one."""
        return (chunk for text in self.sampled(split) for chunk in chunk_text([text]))

    def _parts_with(self, split: str) -> list[CorpusPart]:
        return [part for part in self.parts.values() if split in part.ends]

    def refuse_empty(self, split: str = "train") -> None:
        """DataError if there is nothing to learn a tokenizer from: why no document can be read, or where they are."""
        if any(True for _ in self.sampled(split)):
            return
        faults, others = _read_through(self._parts_with(split))
        if others:
            raise self._too_few(split, 0, others)
        found = " ".join(f"{note[0].upper()}{note[1:]}." for note in faults.notes())
        raise DataError(f"'{', '.join(self.settings.source)}' has no document with a text. {found}")

    def check_rows(self) -> list[str]:
        """Read everything, and say what is wrong with it, as encoding it would; DataError for what that refuses."""
        faults, documents = _read_through([*self.parts.values()])
        refuse_broken(faults, documents, self.settings.skip_limit)
        return faults.notes()

    def _too_few(self, split: str, tokens: int, documents: int) -> DataError:
        instead = "leave out corpus.sharded" if self.settings.sharded else "unpack or convert it to a .txt file"
        own = "" if split == "train" else f"give a file of its own with --{split}, or "
        return DataError(
            f"the {split} split has {counted(tokens, 'token')}: too few to train on or score. The corpus has "
            f"{counted(documents, 'document')}, and shards are divided by documents (of a text file: stretches of "
            f"{STRETCH:,} bytes). Give more text, {own}{instead}."
        )

    # --- encoding it --------------------------------------------------------------------------------------------------

    def encode(self, tokenizer: Tokenizer, workers: int) -> "tuple[LargeText, dict[str, ShardedTokens]]":
        """The text with its size and fingerprint, and its splits as ids."""
        sample = vars(self.sample) if self.sample else None
        parts, skip_limit = [*self.parts.values()], self.settings.skip_limit
        encoded = encode_corpus(parts, tokenizer, workers, skip_limit, self.log, sample)
        splits = {split: encoded.tokens(split, tokenizer) for split in self.splits}
        for split, tokens in splits.items():
            if len(tokens) < 2:
                raise self._too_few(split, len(tokens), encoded.documents())
        return replace(self, stats=encoded.stats, encoded=encoded), splits


def _of_split(split: str, part: CorpusPart, documents: Iterator[CorpusDocument]) -> Iterator[CorpusDocument]:
    return (document for document in documents if choose_split(document.digest, part.ends) == split)


def _read_through(parts: Sequence[CorpusPart]) -> tuple[Faults, int]:
    """What is wrong with the documents of these parts, and how many can be read."""
    faults, documents = Faults(), 0
    for part in parts:
        spans = [Span(number) for number in range(len(part.sources))]
        documents += sum(1 for _ in read_spans(part.sources, spans, faults))
    return faults, documents


def open_large(settings: CorpusSettings, is_whole: bool = False) -> LargeText:
    """The sources of a large corpus in their splits, or whole, to be scored; only their beginnings are read."""
    if settings.documents == "lines":
        raise UsageError(
            "corpus.documents=lines needs a text in one file, and this one is encoded into shards, since it is large, "
            "packed by zstd, in rows or at an address. Leave it out: each row is a document anyway, and each stretch "
            "of a text file. For lines of a small text, unpack it to a .txt file."
        )
    for key, expected in (("layout", "text"), ("split", "contiguous")):
        if getattr(settings, key) != expected:
            raise UsageError(
                f"corpus.{key}={getattr(settings, key)} is for a text that is encoded into one file, and this one is "
                f"encoded into shards, by documents. Leave it out."
            )
    fixes = InputFixes()
    ends = WHOLE if is_whole else SPLIT_ENDS[settings.split_ratios]
    if settings.validation:
        ends = {"train": 100}
    parts = {"train": CorpusPart(find_sources(settings.source, settings.text_column, fixes), ends)}
    for split, items in (("validation", settings.validation), ("test", settings.test)):
        if STANDARD_INPUT in items:
            raise UsageError(f"corpus.{split} cannot be standard input: name a file.")
        if items:
            parts[split] = CorpusPart(find_sources(items, settings.text_column, fixes), {split: 100})
    _refuse_shared({name: part.sources for name, part in parts.items()})
    first = settings.source[0].rstrip("/").rpartition("/")[2].split(".")[0].strip("*?") or "corpus"
    name = first if len(settings.source) == 1 else f"{first}-and-{len(settings.source) - 1}-more"
    paths = tuple(Path(one.name) for part in parts.values() for one in part.sources if not is_address(one.name))

    def blocks() -> Iterator[str]:
        for part in parts.values():
            spans = [Span(number) for number in range(len(part.sources))]
            yield from (document.text for document in read_spans(part.sources, spans, Faults()))

    corpus = Corpus(name, blocks, fixes, about=f"{', '.join(settings.source)}, in shards"[:200], paths=paths)
    return LargeText(corpus, settings, UNKNOWN, is_whole, parts)


def _refuse_shared(sources: Mapping[str, "list[TextSource] | Any"]) -> None:
    """UsageError if a file belongs to two splits."""
    seen: dict[str, str] = {}
    for split, files in sources.items():
        for file in files:
            if file.name in seen:
                raise UsageError(
                    f"'{file.name}' belongs to {seen[file.name]} and to {split}: a model would be scored on what it "
                    f"has seen. Name the files of each split, so that no file is in two."
                )
            seen[file.name] = split
