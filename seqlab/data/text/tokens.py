"""A text encoded once: memory-mapped token files in a cache keyed by fingerprint.

A split is a flat file of ids. With documents, each one lies between a begin and an end token, and a second file has
the position where each one starts.
"""

import errno
import hashlib
import json
import shutil
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from seqlab.cache import cache_directory
from seqlab.data.text.split import SplitText
from seqlab.errors import DataError, StorageError
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text

STATS = "stats.json"


@dataclass(frozen=True)
class SplitStats:
    """Counts of an encoded split. `scored_*` leave out what the first token covers, since it is context only."""

    tokens: int
    documents: int  # 1 for a stream
    characters: int
    bytes: int
    scored_characters: int
    scored_bytes: int
    unknown: int
    longest: int


class TokenSplit:
    """One split of a corpus as ids. Every access maps the file anew, so touched pages do not stay resident."""

    def __init__(self, directory: Path, split: str, dtype: np.dtype, stats: SplitStats):
        self.stats = stats
        self._path = directory / f"{split}.ids"
        self._starts_path = directory / f"{split}.starts"
        self._dtype = dtype

    def __len__(self) -> int:
        return self.stats.tokens

    def read(self, first: int, last: int) -> np.ndarray:
        return self._map()[first:last].astype(np.int64)

    def read_rows(self, starts_B: np.ndarray, length: int) -> np.ndarray:
        """Rows of `length` ids from the given positions."""
        return self.read_positions(starts_B[:, None] + np.arange(length))

    def read_positions(self, positions: np.ndarray) -> np.ndarray:
        """The ids at the given positions, in their shape."""
        return self._map()[positions].astype(np.int64)

    def document_starts(self) -> np.ndarray:
        """The start of each document, and the end of the last."""
        return np.fromfile(self._starts_path, dtype=np.int64)

    def _map(self) -> np.ndarray:
        return np.memmap(self._path, dtype=self._dtype, mode="r", shape=(len(self),))


def encode_split(text: SplitText, tokenizer: Tokenizer) -> dict[str, TokenSplit]:
    """The token file of every split, from the cache or encoded now."""
    # the layout is part of the key, so a folder of an older version is never mistaken for this one
    directory = cache_directory("tokens") / cache_key(STATS, *identity(text, tokenizer))
    if not (directory / STATS).is_file():
        _encode_into(directory, text, tokenizer)
    stats = json.loads((directory / STATS).read_text())
    dtype = np.dtype(tokenizer.dtype)
    splits = {split: TokenSplit(directory, split, dtype, SplitStats(**stats[split])) for split in text.splits}
    for name, tokens in splits.items():
        if len(tokens) < 2:
            raise DataError(
                f"the {name} split has {len(tokens)} token: too few to train on or score. Give a longer text."
            )
    return splits


def identity(text: SplitText, tokenizer: Tokenizer) -> list[str]:
    """Everything that determines the tokens of each split."""
    return [text.stats.fingerprint, text.settings.split_ratios, text.settings.documents, tokenizer.fingerprint]


def cache_key(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:32]


def _encode_into(directory: Path, text: SplitText, tokenizer: Tokenizer) -> None:
    """Write to a temporary folder and rename it, so a cache entry is complete or absent."""
    temporary = Path(tempfile.mkdtemp(dir=directory.parent))
    try:
        stats = {split: asdict(_encode_one(temporary, split, text, tokenizer)) for split in text.splits}
        (temporary / STATS).write_text(json.dumps(stats))
        temporary.rename(directory)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return  # another process has just written the same entry
        raise StorageError(f"the encoded text cannot be written to '{directory}': {error.strerror}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _encode_one(directory: Path, split: str, text: SplitText, tokenizer: Tokenizer) -> SplitStats:
    documents = _documents(text, split, tokenizer) if text.by_lines else _stream(text, split, tokenizer)
    starts = array("q", [0])  # a list would take five times the memory, and a text may have millions of lines
    tokens = characters = size = scored_characters = scored_bytes = unknown = longest = 0
    with (directory / f"{split}.ids").open("wb") as stream:
        for ids, chunk, context_only in documents:
            stream.write(ids.astype(tokenizer.dtype).tobytes())
            tokens += len(ids)
            raw = len(chunk.encode())
            characters += len(chunk)
            size += raw
            scored_characters += len(chunk) - _count_characters(context_only)
            scored_bytes += raw - len(context_only)
            longest = max(longest, len(ids))
            if tokenizer.unknown is not None:
                unknown += int((ids == tokenizer.unknown).sum())
            starts.append(tokens)
    if text.by_lines:
        np.asarray(starts).tofile(directory / f"{split}.starts")
    count = len(starts) - 1 if text.by_lines else 1
    return SplitStats(tokens, count, characters, size, scored_characters, scored_bytes, unknown, longest)


def _count_characters(raw: bytes) -> int:
    """The number of characters that start in these UTF-8 bytes."""
    return sum(byte & 0xC0 != 0x80 for byte in raw)


EncodedChunk = tuple[np.ndarray, str, bytes]  # ids, their text, and the bytes of it that are context only


def _stream(text: SplitText, split: str, tokenizer: Tokenizer) -> Iterator[EncodedChunk]:
    context_only = None
    for chunk in chunk_text(text.blocks(split)):
        if context_only is None:
            context_only = tokenizer.first_token_bytes(chunk)
            yield tokenizer.encode_array(chunk), chunk, context_only
        else:
            yield tokenizer.encode_array(chunk), chunk, b""


def _documents(text: SplitText, split: str, tokenizer: Tokenizer) -> Iterator[EncodedChunk]:
    """Begin, the line, end. The end stands for the newline and the begin is the context, so all text is scored."""
    assert tokenizer.begin is not None and tokenizer.end is not None
    for line in text.lines(split):
        ids = np.concatenate(([tokenizer.begin], tokenizer.encode_array(line), [tokenizer.end]))
        yield ids, line + "\n", b""
