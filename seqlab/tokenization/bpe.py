"""Byte-pair encoding: the 256 bytes, and on top of them the pairs that are most frequent in the training text.

The `tokenizers` library trains and encodes. Of what it learns only the merges are kept, as pairs of ids: the
vocabulary follows from them, and the library's object is built here, never read from a file. pairs.py has the same
encoding as its definition reads.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Self, final

import numpy as np
from pydantic import Field
from tokenizers import Tokenizer as Library
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError
from seqlab.tokenization.serialization import check_keys
from seqlab.tokenization.tokenizer import Tokenizer, cut_pieces, utf8

LARGEST = 2**20
LONGEST = 64  # bytes of one symbol: pairs of pairs would otherwise double without end
TRAINED_ON = 100_000_000  # bytes: more text hardly changes the pairs
LONG_RUN = re.compile(r"\S{256}|\s{256}")  # learnt from in parts: training is quadratic in the length of a word
CHUNK = 1 << 14  # characters encoded by one thread at a time
BATCH = 64  # chunks handed over together, which bounds the memory

# The library writes bytes as letters: printable ones of Latin-1 as themselves, the others as those from U+0100 on.
_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_REST = [byte for byte in range(256) if byte not in _PRINTABLE]
_LETTERS = {byte: byte if byte in _PRINTABLE else 0x100 + _REST.index(byte) for byte in range(256)}
_BYTES = {letter: byte for byte, letter in _LETTERS.items()}


class BpeSettings(TokenizerSettings):
    vocab_size: int = Field(default=2000, ge=256, le=LARGEST, description="symbols: the 256 bytes and the pairs learnt")


@final
class BpeTokenizer(Tokenizer):
    name = "bpe"
    can_meet_unknown = False

    def __init__(self, merges: Sequence[tuple[int, int]], documents: bool = False):
        spellings = _spell(merges)
        super().__init__(spellings, documents)
        self._merges = tuple(merges)
        letters = [to_letters(spelling) for spelling in spellings]
        self._library = _library(
            BPE(
                vocab={spelling: number for number, spelling in enumerate(letters)},
                merges=[(letters[left], letters[right]) for left, right in merges],
            )
        )

    @classmethod
    def train(cls, pieces: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        assert isinstance(settings, BpeSettings)
        library = _library(BPE())
        trainer = BpeTrainer(
            vocab_size=settings.vocab_size,
            min_frequency=2,
            max_token_length=LONGEST,
            initial_alphabet=ByteLevel.alphabet(),
            show_progress=False,
        )
        library.train_from_iterator(_training_text(pieces), trainer)
        return cls(_numbered(json.loads(library.to_str())["model"]["merges"]), documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name, "merges")
        merges = content["merges"]
        if not isinstance(merges, list):
            raise DataError("its 'merges' is not a list")
        for index, pair in enumerate(merges):
            if not (isinstance(pair, list) and len(pair) == 2 and all(type(part) is int for part in pair)):
                raise DataError(f"its merges[{index}] is not a pair of ids")
        return cls([(left, right) for left, right in merges], content["documents"])

    def to_json(self) -> dict[str, Any]:
        return {**self.header(), "merges": [list(pair) for pair in self._merges]}

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs in the order in which they were learnt, which is that in which they are joined."""
        return [(self._spellings[left], self._spellings[right]) for left, right in self._merges]

    def encode(self, text: str) -> np.ndarray:
        utf8(text)  # refuses what is not a character
        chunks = cut_pieces([text], CHUNK)
        parts = [np.empty(0, dtype=self.dtype)]
        while batch := list(islice(chunks, BATCH)):
            encodings = self._library.encode_batch_fast(batch, add_special_tokens=False)
            parts += [np.array(encoding.ids, dtype=self.dtype) for encoding in encodings]
        return np.concatenate(parts)

    def first(self, text: str) -> bytes:
        start = next(cut_pieces([text], 1), "")
        return self.decode_bytes(self.encode(start)[:1])


def _library(model: BPE) -> Library:
    library = Library(model)
    library.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return library


def _training_text(pieces: Iterable[str]) -> Iterator[str]:
    """What the library learns from. Pieces are never joined: they may be lines that have lost their ends."""
    for piece in _up_to(TRAINED_ON, pieces):
        for chunk in cut_pieces([piece], CHUNK):
            start = 0
            for run in LONG_RUN.finditer(chunk):
                yield chunk[start : run.end()]
                start = run.end()
            yield chunk[start:]


def _up_to(limit: int, pieces: Iterable[str]) -> Iterator[str]:
    """The first `limit` bytes of a text."""
    for piece in pieces:
        spelt = utf8(piece)
        if len(spelt) >= limit:
            yield spelt[:limit].decode(errors="ignore")
            return
        limit -= len(spelt)
        yield piece


def _spell(merges: Sequence[tuple[int, int]]) -> list[bytes]:
    """Every symbol's bytes. Two different pairs may join to the same symbol, which then keeps its first id."""
    spellings = [bytes([value]) for value in range(256)]
    known = set(spellings)
    seen: set[tuple[int, int]] = set()
    for index, (left, right) in enumerate(merges):
        if not (0 <= left < len(spellings) and 0 <= right < len(spellings)):
            raise DataError(f"its merges[{index}] joins {left} and {right}, of which not both are there before it")
        if (left, right) in seen:
            raise DataError(f"its merges[{index}] joins {left} and {right}, a pair that is there before")
        joined = spellings[left] + spellings[right]
        if len(joined) > LONGEST:
            raise DataError(f"its merges[{index}] gives a symbol of {len(joined)} bytes, expected at most {LONGEST}")
        seen.add((left, right))
        if joined not in known:
            known.add(joined)
            spellings.append(joined)
        if len(spellings) > LARGEST:
            raise DataError(f"its 'merges' give more than {LARGEST:,} symbols")
    return spellings


def _numbered(merges: list[list[str]]) -> list[tuple[int, int]]:
    """The library's merges as pairs of our ids."""
    ids = {bytes([value]): value for value in range(256)}
    pairs: list[tuple[int, int]] = []
    for left, right in ((_to_bytes(left), _to_bytes(right)) for left, right in merges):
        pairs.append((ids[left], ids[right]))
        ids.setdefault(left + right, len(ids))
    return pairs


def to_letters(spelling: bytes) -> str:
    return spelling.decode("latin-1").translate(_LETTERS)


def _to_bytes(letters: str) -> bytes:
    return letters.translate(_BYTES).encode("latin-1")
