"""Byte-pair encoding: the 256 bytes, and on top of them the most frequent pairs of the training text.

The `tokenizers` library trains and encodes. We save only the merges, as pairs of ids: they determine the vocabulary,
and the library's object is built here, never read from a file. Tests compare it with one merge at a time.
"""

import json
import re
import warnings
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
from seqlab.errors import DataError, SeqlabWarning
from seqlab.tokenization.serialization import check_keys
from seqlab.tokenization.tokenizer import Tokenizer, chunk_text, utf8

MAX_VOCAB_SIZE = 2**20
MAX_TOKEN_BYTES = 64  # merges of merges would otherwise keep doubling
MAX_TRAINING_BYTES = 100_000_000  # more text hardly changes the merges
LONG_RUN = re.compile(r"\S{256}|\s{256}")  # cut up for training, which is quadratic in the length of a word
CHUNK = 1 << 14  # characters encoded by one thread at a time
BATCH = 64  # chunks passed to the library at once, which bounds the memory

# The library writes bytes as letters: printable Latin-1 as itself, the other bytes as letters from U+0100 on.
_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_UNPRINTABLE = [byte for byte in range(256) if byte not in _PRINTABLE]
_LETTERS = {byte: byte if byte in _PRINTABLE else 0x100 + _UNPRINTABLE.index(byte) for byte in range(256)}
_BYTES = {letter: byte for byte, letter in _LETTERS.items()}


class BpeSettings(TokenizerSettings):
    vocab_size: int = Field(default=2000, ge=256, le=MAX_VOCAB_SIZE, description="tokens: 256 bytes and the merges")


@final
class BpeTokenizer(Tokenizer):
    Settings = BpeSettings
    name = "bpe"
    has_unknown = False

    def __init__(self, merges: Sequence[tuple[int, int]], documents: bool = False):
        token_bytes = _apply_merges(merges)
        super().__init__(token_bytes, documents)
        self._merges = tuple(merges)
        letters = [to_letters(token) for token in token_bytes]
        self._library = _library(
            BPE(
                vocab={token: index for index, token in enumerate(letters)},
                merges=[(letters[left], letters[right]) for left, right in merges],
            )
        )

    @classmethod
    def train(cls, chunks: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        assert isinstance(settings, BpeSettings)
        library = _library(BPE())
        trainer = BpeTrainer(
            vocab_size=settings.vocab_size,
            min_frequency=2,
            max_token_length=MAX_TOKEN_BYTES,
            initial_alphabet=ByteLevel.alphabet(),
            show_progress=False,
        )
        library.train_from_iterator(_training_text(chunks), trainer)
        return cls(_merge_ids(json.loads(library.to_str())["model"]["merges"]), documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name, "merges")
        merges = content["merges"]
        if not isinstance(merges, list):
            raise DataError("its 'merges' is not a list")
        for index, pair in enumerate(merges):
            if not (isinstance(pair, list) and len(pair) == 2 and all(type(token) is int for token in pair)):
                raise DataError(f"its merges[{index}] is not a pair of ids")
        return cls([(left, right) for left, right in merges], content["documents"])

    def to_json(self) -> dict[str, Any]:
        return {**self.header(), "merges": [list(pair) for pair in self._merges]}

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The merged pairs, in the order in which training found them and encoding applies them."""
        return [(self._token_bytes[left], self._token_bytes[right]) for left, right in self._merges]

    def encode_array(self, text: str) -> np.ndarray:
        utf8(text)  # raises DataError for half a surrogate pair
        chunks = chunk_text([text], CHUNK)
        ids = [np.empty(0, dtype=self.dtype)]
        while batch := list(islice(chunks, BATCH)):
            encodings = self._library.encode_batch_fast(batch, add_special_tokens=False)
            ids += [np.array(encoding.ids, dtype=self.dtype) for encoding in encodings]
        return np.concatenate(ids)


def _library(model: BPE) -> Library:
    library = Library(model)
    library.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return library


def _training_text(chunks: Iterable[str]) -> Iterator[str]:
    """The text that the library trains on. Chunks stay apart: they may be lines without their newlines."""
    for chunk in _head(MAX_TRAINING_BYTES, chunks):
        for block in chunk_text([chunk], CHUNK):
            start = 0
            for run in LONG_RUN.finditer(block):
                yield block[start : run.end()]
                start = run.end()
            yield block[start:]


def _head(limit: int, chunks: Iterable[str]) -> Iterator[str]:
    """The first `limit` bytes of a text."""
    for chunk in chunks:
        encoded = utf8(chunk)
        if len(encoded) > limit:
            warnings.warn(
                f"the merges are learned from the first {MAX_TRAINING_BYTES:,} bytes of the training text",
                SeqlabWarning,
                stacklevel=2,
            )
            yield encoded[:limit].decode(errors="ignore")
            return
        limit -= len(encoded)
        yield chunk


def _apply_merges(merges: Sequence[tuple[int, int]]) -> list[bytes]:
    """The bytes of every token. If two pairs merge to the same bytes, the first one's id stands for both."""
    tokens = [bytes([value]) for value in range(256)]
    known = set(tokens)
    seen: set[tuple[int, int]] = set()
    for index, (left, right) in enumerate(merges):
        if not (0 <= left < len(tokens) and 0 <= right < len(tokens)):
            raise DataError(f"its merges[{index}] joins {left} and {right}, which are not both defined before it")
        if (left, right) in seen:
            raise DataError(f"its merges[{index}] joins {left} and {right}, a pair that an earlier merge joins")
        merged = tokens[left] + tokens[right]
        if len(merged) > MAX_TOKEN_BYTES:
            raise DataError(
                f"its merges[{index}] makes a token of {len(merged)} bytes, expected at most {MAX_TOKEN_BYTES}"
            )
        seen.add((left, right))
        if merged not in known:
            known.add(merged)
            tokens.append(merged)
        if len(tokens) > MAX_VOCAB_SIZE:
            raise DataError(f"its 'merges' make more than {MAX_VOCAB_SIZE:,} tokens")
    return tokens


def _merge_ids(merges: list[list[str]]) -> list[tuple[int, int]]:
    """The library's merges as pairs of our ids."""
    ids = {bytes([value]): value for value in range(256)}
    pairs: list[tuple[int, int]] = []
    for left, right in ((_to_bytes(left), _to_bytes(right)) for left, right in merges):
        pairs.append((ids[left], ids[right]))
        ids.setdefault(left + right, len(ids))
    return pairs


def to_letters(token: bytes) -> str:
    """The token as the library writes it."""
    return token.decode("latin-1").translate(_LETTERS)


def _to_bytes(letters: str) -> bytes:
    return letters.translate(_BYTES).encode("latin-1")
