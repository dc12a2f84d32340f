"""A text encoded once: memory-mapped token files in a cache keyed by fingerprint.

A split is a flat file of ids. It consists of documents, whose first tokens are context only: lines, each between a
begin and an end token, or the segments of a running text. A second file has the position where each one starts.
"""

import hashlib
import shutil
import tempfile
import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from filelock import FileLock

from seqlab.cache import VerifiedFiles, cache_directory, cached_digest, read_sealed, seal, warn_of_damage
from seqlab.data.text.split import SplitText
from seqlab.errors import DataError, SeqlabError, SeqlabWarning, StorageError
from seqlab.storage import storage_errors, validated
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text
from seqlab.wording import split_in_words

STATS = "stats.json"
LAYOUT = "lines with content or segments, with spelling and warnings, sealed"
_warned_of: set[str] = set()  # entries whose warnings this process has given


@dataclass(frozen=True)
class SplitStats:
    """Counts of an encoded split. `scored_*` leave out what the first token covers, since it is context only."""

    tokens: int
    documents: int  # lines, or segments of a running text
    characters: int
    bytes: int
    scored_characters: int
    scored_bytes: int
    unknown: int
    longest: int
    by_lines: bool = False

    @property
    def scored_tokens(self) -> int:
        return self.tokens - self.documents

    def text_size(self, tokens: int) -> tuple[int, int]:
        """Characters and bytes of this many scored tokens: fewer than all have an average share of the text."""
        share = tokens / self.scored_tokens
        return round(self.scored_characters * share), round(self.scored_bytes * share)


class TokenSplit:
    """One split of a corpus as ids. Every access maps the file again, so touched pages do not stay resident."""

    permuted = False  # whether windows are taken in the order of a keyed permutation, rather than drawn

    def __init__(self, directory: Path, split: str, dtype: np.dtype, stats: SplitStats, unknown: int | None = None):
        self.stats = stats
        self._path = directory / f"{split}.ids"
        self._starts_path = directory / f"{split}.starts"
        self._spelling_path = directory / f"{split}.spelling"
        self._dtype, self._unknown = dtype, unknown

    def parts(self, ranges: Sequence[tuple[int, int]]) -> "TokenSplit":
        """The tokens of these ranges (first, and one after the last) as a split, to train on or to count; each range
        begins a document, and characters are not counted."""
        return _Parts(self, ranges)

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
        if self.stats.documents == 1:
            return np.array([0, len(self)])
        return np.fromfile(self._starts_path, dtype=np.int64)

    def spelling_nats(self, tokens_U: np.ndarray) -> np.ndarray:
        """What spelling the unknown tokens costs, in units of so many scored tokens from the beginning (U)."""
        if not self.stats.unknown:
            return np.zeros(len(tokens_U))
        nats_N = np.zeros(len(self))
        nats_N[self._map() == self._unknown] = np.fromfile(self._spelling_path)
        scored_N = np.delete(nats_N, self.document_starts()[:-1])
        return np.add.reduceat(scored_N[: tokens_U.sum()], np.cumsum(tokens_U) - tokens_U)

    def _map(self) -> np.ndarray:
        try:
            return np.memmap(self._path, dtype=self._dtype, mode="r", shape=(len(self),))
        except (OSError, ValueError):
            raise StorageError(
                f"'{self._path}' was removed or changed while it was in use. Repeat the command, or resume the run: "
                f"the text is encoded again."
            ) from None


class _Parts(TokenSplit):
    """Ranges of another split, one after the other."""

    def __init__(self, whole: TokenSplit, ranges: Sequence[tuple[int, int]]):
        self._whole, self._ranges = whole, ranges
        lengths_R = np.array([last - first for first, last in ranges])
        self._ends_R = np.cumsum(lengths_R)
        self._shift_R = np.array([first for first, _ in ranges]) - (self._ends_R - lengths_R)
        starts = whole.document_starts()
        inside = [starts[(starts > first) & (starts < last)] for first, last in ranges]
        shifted = [
            np.append(first, starts_D) - shift
            for (first, _), starts_D, shift in zip(ranges, inside, self._shift_R, strict=True)
        ]
        self._starts = np.concatenate([*shifted, self._ends_R[-1:]])
        self.stats = replace(whole.stats, tokens=int(self._ends_R[-1]), documents=len(self._starts) - 1)

    def read(self, first: int, last: int) -> np.ndarray:
        parts = [np.zeros(0, np.int64)]
        for end, shift, (begin, _) in zip(self._ends_R, self._shift_R, self._ranges, strict=True):
            low, high = max(first, begin - shift), min(last, end)
            if low < high:
                parts.append(self._whole.read(low + shift, high + shift))
        return np.concatenate(parts)

    def read_positions(self, positions: np.ndarray) -> np.ndarray:
        return self._whole.read_positions(positions + self._shift_R[np.searchsorted(self._ends_R, positions, "right")])

    def document_starts(self) -> np.ndarray:
        return self._starts

    def spelling_nats(self, tokens_U: np.ndarray) -> np.ndarray:
        raise AssertionError("parts of a split are trained on or counted, not scored by their characters")


def encode_split(text: SplitText, tokenizer: Tokenizer) -> dict[str, TokenSplit]:
    """The token file of every split, from the cache or encoded now."""
    # the layout is part of the key, so a folder of an older version is never mistaken for this one
    key = cache_key(STATS, LAYOUT, text.stats.fingerprint, text.rule, tokenizer.fingerprint)
    directory = cache_directory("tokens") / key
    cached = _read_entry(directory, text.splits)
    stats, messages = cached or _make_entry(directory, text, tokenizer)
    if not cached or key not in _warned_of:  # also of a text that an earlier program has encoded
        _warned_of.add(key)
        shares = "" if text.is_whole else _unknown_shares(stats)  # of a text to score, the result has its share
        for message in messages:
            warnings.warn(message + shares, SeqlabWarning, stacklevel=2)
    dtype, unknown = np.dtype(tokenizer.dtype), tokenizer.unknown
    splits = {split: TokenSplit(directory, split, dtype, stats[split], unknown) for split in text.splits}
    for name, tokens in splits.items():
        if len(tokens) < 2:
            raise DataError(
                f"the {name} split has {len(tokens)} token: too few to train on or score. Give a longer text."
            )
    return splits


def _unknown_shares(stats: Mapping[str, SplitStats]) -> str:
    """How many tokens of each split are unknown."""
    shares = [
        f"{one.unknown:,} of the {one.tokens:,} tokens of the {split_in_words(split)} text "
        f"({one.unknown / one.tokens:.2%})"
        for split, one in stats.items()
        if one.unknown
    ]
    return f", which is {', '.join(shares)}" if shares else ""


def cache_key(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:32]


Entry = tuple[dict[str, SplitStats], list[str]]  # counts of each split, and warnings


def _read_entry(directory: Path, splits: list[str], warn: bool = False) -> Entry | None:
    """An entry whose files are as they were written; None if it is missing or damaged."""
    if not directory.exists():
        return None
    try:
        content = read_sealed(directory / STATS)
        verified = VerifiedFiles(directory)
        for name, digest in content["files"].items():
            verified.check(name, digest)
        verified.keep()
        stats = {split: validated(SplitStats, content["stats"][split], directory / STATS) for split in splits}
        return stats, content["warnings"]
    except SeqlabError as error:
        if warn:
            warn_of_damage(error)
        return None


def _make_entry(directory: Path, text: SplitText, tokenizer: Tokenizer) -> Entry:
    """Encode the text; one process at a time, so that none removes what another has just made."""
    with storage_errors(directory, 0):
        lock = FileLock(cache_directory("locks") / directory.name).acquire()
    with lock:
        if entry := _read_entry(directory, text.splits, warn=True):
            return entry
        shutil.rmtree(directory, ignore_errors=True)
        return _encode_into(directory, text, tokenizer)


def _encode_into(directory: Path, text: SplitText, tokenizer: Tokenizer) -> Entry:
    """Write to a temporary folder and rename it, so a cache entry is complete or absent."""
    with storage_errors(directory, 0):
        temporary = Path(tempfile.mkdtemp(dir=directory.parent))
    try:
        collecting = tokenizer.collecting()  # so that an entry that is made anew has the same warnings
        stats = {split: _encode_one(temporary, split, text, collecting) for split in text.splits}
        messages = collecting.collected
        files = {path.name: cached_digest(path) for path in sorted(temporary.iterdir())}
        counts = {split: asdict(counts) for split, counts in stats.items()}
        (temporary / STATS).write_bytes(seal({"files": files, "stats": counts, "warnings": messages}))
        temporary.rename(directory)
    except OSError as error:
        raise StorageError(f"the encoded text cannot be written to '{directory}': {error.strerror}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return stats, messages


def _encode_one(directory: Path, split: str, text: SplitText, tokenizer: Tokenizer) -> SplitStats:
    documents = _lines(text, split, tokenizer) if text.by_lines else _segments(text, split, tokenizer)
    starts = array("q", [0])  # a list would take five times the memory, and a text may have millions of lines
    tokens = characters = size = scored_characters = scored_bytes = unknown = 0
    spelled = directory / f"{split}.spelling"
    with (directory / f"{split}.ids").open("wb") as stream, spelled.open("wb") as spelling:
        for document in documents:
            for ids, chunk, context_only in document:
                stream.write(ids.astype(tokenizer.dtype).tobytes())
                tokens += len(ids)
                raw = len(chunk.encode())
                characters += len(chunk)
                size += raw
                scored_characters += len(chunk) - _count_characters(context_only)
                scored_bytes += raw - len(context_only)
                if tokenizer.unknown is not None and tokenizer.unknown in ids:
                    line = chunk.removesuffix("\n") if text.by_lines else chunk
                    nats_U = tokenizer.spelling_nats(line, ids)
                    unknown += len(nats_U)
                    spelling.write(nats_U.astype(np.float64).tobytes())
            if tokens > starts[-1]:
                starts.append(tokens)
    starts_D = np.asarray(starts)
    starts_D.tofile(directory / f"{split}.starts")
    longest = int(np.diff(starts_D).max(initial=0))
    sizes = characters, size, scored_characters, scored_bytes
    return SplitStats(tokens, len(starts_D) - 1, *sizes, unknown, longest, text.by_lines)


def _count_characters(raw: bytes) -> int:
    """The number of characters that start in these UTF-8 bytes."""
    return sum(byte & 0xC0 != 0x80 for byte in raw)


EncodedChunk = tuple[np.ndarray, str, bytes]  # ids, their text, and the bytes of it that are context only


def _segments(text: SplitText, split: str, tokenizer: Tokenizer) -> Iterator[Iterator[EncodedChunk]]:
    for segment in text.segments(split):
        yield (
            (tokenizer.encode_array(chunk), chunk, b"" if index else tokenizer.first_token_bytes(chunk))
            for index, chunk in enumerate(chunk_text(segment))
        )


def _lines(text: SplitText, split: str, tokenizer: Tokenizer) -> Iterator[list[EncodedChunk]]:
    """Begin, the line, end. The end stands for the newline and the begin is the context, so all text is scored."""
    assert tokenizer.begin is not None and tokenizer.end is not None
    for line in text.lines(split):
        ids = np.concatenate(([tokenizer.begin], tokenizer.encode_array(line), [tokenizer.end]))
        yield [(ids, line + "\n", b"")]
