"""One shard: the ids of some documents, by split, in files that can be mapped, and a sealed record of them.

The record is written last, with the SHA-256 of every file. So a shard is complete or absent, whenever a worker dies.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from seqlab.cache import VerifiedFiles, read_sealed, write_sealed
from seqlab.data.corpora.documents import CorpusDocument
from seqlab.data.corpora.faults import Faults
from seqlab.errors import SeqlabError
from seqlab.storage import storage_errors, validated
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text

ENDS = ("ids", "spelling")  # of the files of a split


@dataclass
class ShardSplit:
    """Counts of one split in one shard. `first_*` is what the first token covers."""

    tokens: int = 0
    documents: int = 0
    characters: int = 0
    bytes: int = 0
    lines: int = 0
    unknown: int = 0
    first_characters: int = 0
    first_bytes: int = 0
    text: str = ""  # SHA-256 of the SHA-256 of its documents
    ids: str = ""  # SHA-256 of the files
    spelling: str = ""


@dataclass(frozen=True)
class ShardRecord:
    splits: Mapping[str, ShardSplit]
    faults: Mapping[str, Any]
    warnings: list[str]


def choose_split(digest: bytes, ends: Mapping[str, int]) -> str:
    """The split of a document with this SHA-256; `ends` are the percent of the whole at which each split ends."""
    percent = int.from_bytes(digest[:8], "big") * 100 >> 64
    return next(split for split, end in ends.items() if percent < end)


def encode_shard(
    folder: Path,
    name: str,
    documents: Iterator[CorpusDocument],
    tokenizer: Tokenizer,
    ends: Mapping[str, int],
    faults: Faults,
) -> ShardRecord:
    """Encode the documents, each by itself; `faults` counts what reading them meets."""
    collecting = tokenizer.collecting()
    with ExitStack() as files, storage_errors(folder / name, 0):
        writers = {split: _SplitWriter(folder, name, split, collecting, files) for split in ends}
        for document in documents:
            writers[choose_split(document.digest, ends)].write(document)
        splits = {split: writer.close() for split, writer in writers.items()}
    record = ShardRecord(splits, faults.counts, collecting.collected)
    write_sealed(folder / f"{name}.json", asdict(record))
    return record


def check_shard(name: str, splits: Mapping[str, ShardSplit], verified: VerifiedFiles) -> None:
    """DataError if a file of the shard is not as it was written."""
    for split, counts in splits.items():
        for end in ENDS:
            if digest := getattr(counts, end):
                verified.check(f"{name}.{split}.{end}", digest)


def intact(name: str, verified: VerifiedFiles) -> ShardRecord | None:
    """A complete shard; None if there is none, or if it is damaged and has to be made again."""
    path = verified.folder / f"{name}.json"
    try:
        record = validated(ShardRecord, read_sealed(path), path)
        check_shard(name, record.splits, verified)
        return record
    except SeqlabError:
        return None


class _SplitWriter:
    """Writes the ids of one split. A split without documents has no files."""

    def __init__(self, folder: Path, name: str, split: str, tokenizer: Tokenizer, files: ExitStack):
        self.folder, self.name, self.split, self.tokenizer, self._files = folder, name, split, tokenizer, files
        self.counts = ShardSplit()
        self._streams: dict[str, BinaryIO] = {}
        self._digests = {end: hashlib.sha256() for end in (*ENDS, "text")}

    def write(self, document: CorpusDocument) -> None:
        counts, tokenizer = self.counts, self.tokenizer
        for chunk in chunk_text([document.text]):
            ids = tokenizer.encode_array(chunk)
            if not counts.tokens and len(ids):
                covered = tokenizer.first_token_bytes(chunk)
                counts.first_bytes = len(covered)
                counts.first_characters = sum(byte & 0xC0 != 0x80 for byte in covered)
            counts.tokens += len(ids)
            self._append("ids", ids.astype(tokenizer.dtype, copy=False))
            if tokenizer.unknown is not None and tokenizer.unknown in ids:
                nats_U = tokenizer.spelling_nats(chunk, ids)
                counts.unknown += len(nats_U)
                self._append("spelling", nats_U.astype(np.float64))
        counts.documents += 1
        counts.characters += len(document.text)
        counts.bytes += len(document.raw)
        counts.lines += document.raw.count(b"\n")
        self._digests["text"].update(document.digest)

    def _append(self, end: str, values: np.ndarray) -> None:
        if end not in self._streams:
            path = self.folder / f"{self.name}.{self.split}.{end}"
            path.unlink(missing_ok=True)
            self._streams[end] = self._files.enter_context(path.open("xb"))
        raw = values.tobytes()
        self._streams[end].write(raw)
        self._digests[end].update(raw)

    def close(self) -> ShardSplit:
        for end, stream in self._streams.items():
            stream.flush()
            os.fsync(stream.fileno())
            setattr(self.counts, end, self._digests[end].hexdigest())
        self.counts.text = self._digests["text"].hexdigest() if self.counts.documents else ""
        return self.counts
