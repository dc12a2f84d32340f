"""A text encoded once: memory-mapped token files in a cache keyed by fingerprint.

A part is a flat file of ids. Of documents, every line stands in it between a begin and an end symbol, and a second
file holds where each one starts.
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


@dataclass(frozen=True)
class SplitStats:
    """What is known of an encoded part. `scored_*` leave out what the first token stands for: it is context only."""

    tokens: int
    documents: int  # 1 for a stream
    characters: int
    bytes: int
    scored_characters: int
    scored_bytes: int
    unknown: int
    longest: int


class TokenSplit:
    """One part of a corpus as ids. Each access maps the file anew, so that pages it touched do not stay resident."""

    def __init__(self, directory: Path, part: str, dtype: np.dtype, facts: SplitStats):
        self.facts = facts
        self._path = directory / f"{part}.ids"
        self._starts_path = directory / f"{part}.starts"
        self._dtype = dtype

    def __len__(self) -> int:
        return self.facts.tokens

    def read(self, first: int, last: int) -> np.ndarray:
        return self._map()[first:last].astype(np.int64)

    def gather(self, starts_B: np.ndarray, length: int) -> np.ndarray:
        """Rows of `length` ids from the given positions."""
        return self.pick(starts_B[:, None] + np.arange(length))

    def pick(self, positions: np.ndarray) -> np.ndarray:
        """The ids at the given positions, in their shape."""
        return self._map()[positions].astype(np.int64)

    def starts(self) -> np.ndarray:
        """Where each document begins, and the end of the last."""
        return np.fromfile(self._starts_path, dtype=np.int64)

    def _map(self) -> np.ndarray:
        return np.memmap(self._path, dtype=self._dtype, mode="r", shape=(len(self),))


def encode_split(split: SplitText, tokenizer: Tokenizer) -> dict[str, TokenSplit]:
    """Every part's token file, from the cache or made now."""
    directory = cache_directory("tokens") / cache_key(*identity(split, tokenizer))
    if not (directory / "facts.json").is_file():
        _encode_into(directory, split, tokenizer)
    facts = json.loads((directory / "facts.json").read_text())
    dtype = np.dtype(tokenizer.dtype)
    splits = {part: TokenSplit(directory, part, dtype, SplitStats(**facts[part])) for part in split.splits}
    for name, part in splits.items():
        if len(part) < 2:
            raise DataError(
                f"the {name} part has {len(part)} token: too little to learn from or score. Give more text."
            )
    return splits


def identity(split: SplitText, tokenizer: Tokenizer) -> list[str]:
    """What decides which tokens each part has."""
    return [split.survey.fingerprint, split.settings.split_ratios, split.settings.documents, tokenizer.fingerprint]


def cache_key(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:32]


def _encode_into(directory: Path, split: SplitText, tokenizer: Tokenizer) -> None:
    """Write to a temporary folder and rename, so that a cache entry is there whole or not at all."""
    temporary = Path(tempfile.mkdtemp(dir=directory.parent))
    try:
        facts = {part: asdict(_encode_part(temporary, part, split, tokenizer)) for part in split.splits}
        (temporary / "facts.json").write_text(json.dumps(facts))
        temporary.rename(directory)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return  # somebody else has just made the same entry
        raise StorageError(f"the encoded text cannot be written to '{directory}': {error.strerror}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _encode_part(directory: Path, part: str, split: SplitText, tokenizer: Tokenizer) -> SplitStats:
    documents = _documents(split, part, tokenizer) if split.by_lines else _stream(split, part, tokenizer)
    starts = array("q", [0])  # a list would take five times the memory, and a text may have millions of lines
    tokens = characters = size = scored_characters = scored_bytes = unknown = longest = 0
    with (directory / f"{part}.ids").open("wb") as stream:
        for ids, text, context_only in documents:
            stream.write(ids.astype(tokenizer.dtype).tobytes())
            tokens += len(ids)
            raw = len(text.encode())
            characters += len(text)
            size += raw
            scored_characters += len(text) - _characters(context_only)
            scored_bytes += raw - len(context_only)
            longest = max(longest, len(ids))
            if tokenizer.unknown is not None:
                unknown += int((ids == tokenizer.unknown).sum())
            starts.append(tokens)
    if split.by_lines:
        np.asarray(starts).tofile(directory / f"{part}.starts")
    documents_count = len(starts) - 1 if split.by_lines else 1
    return SplitStats(tokens, documents_count, characters, size, scored_characters, scored_bytes, unknown, longest)


def _characters(raw: bytes) -> int:
    """How many characters start in these UTF-8 bytes."""
    return sum(byte & 0xC0 != 0x80 for byte in raw)


Encoded = tuple[np.ndarray, str, bytes]  # ids, their text, and what of it is context only


def _stream(split: SplitText, part: str, tokenizer: Tokenizer) -> Iterator[Encoded]:
    context_only = None
    for piece in chunk_text(split.blocks(part)):
        if context_only is None:
            context_only = tokenizer.first_token_bytes(piece)
            yield tokenizer.encode_array(piece), piece, context_only
        else:
            yield tokenizer.encode_array(piece), piece, b""


def _documents(split: SplitText, part: str, tokenizer: Tokenizer) -> Iterator[Encoded]:
    """Begin, the line, end. The end stands for the newline; the begin symbol is the context, so all text is scored."""
    assert tokenizer.begin is not None and tokenizer.end is not None
    for line in split.lines(part):
        ids = np.concatenate(([tokenizer.begin], tokenizer.encode_array(line), [tokenizer.end]))
        yield ids, line + "\n", b""
