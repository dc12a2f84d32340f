"""The tokenizer contract, and tokenizer.json.

Ids of ordinary tokens come first, then the special ones: unknown, if the tokenizer has one, and begin and end, if the
corpus consists of documents. No text encodes to begin or end. Read char.py next, the simplest tokenizer that trains.
"""

import hashlib
import json
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError, MissingInput, SeqlabWarning, StorageError, UsageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.serialization import FORMAT, MAX_FILE_BYTES, VERSION, check_version, quote, read_object
from seqlab.tokenization.spelling import BYTE_NATS

Ids = np.ndarray | Sequence[int]

REPLACEMENT = "\ufffd"  # how decoded text shows the unknown token
MAX_WARNINGS = 20  # per tokenizer: each text that is encoded may have something unknown
MAX_COLLECTED = 100_000  # different unknown texts that are counted for one warning


class Tokenizer(ABC):
    """Text to token ids and back. `documents` reserves a begin and an end token."""

    Settings: ClassVar[type[TokenizerSettings]] = TokenizerSettings  # what `train` takes
    name: ClassVar[str]  # as registered; "module:Class" unless set
    has_unknown: ClassVar[bool]  # whether some text encodes to the unknown token
    changes: str = ""  # how decoded text differs from what was encoded, besides unknown tokens: "read in lower case"
    unknown_reason: ClassVar[tuple[str, str]] = ("", "")  # completes "'x' ..." and "'x', 'y' ..." in the warning

    def __init__(self, token_bytes: Sequence[bytes], documents: bool = False):
        self.documents = documents
        self.ordinary_size: int = len(token_bytes)  # without the special tokens
        self._token_bytes = [*token_bytes]
        if self.has_unknown:
            self._token_bytes.append(REPLACEMENT.encode())
        if documents:
            self._token_bytes += [b"", b""]
        self.rarer = 0  # different words that training left out, to keep to `vocab_size`; 0 if it was loaded
        self._warned_of: dict[str, None] = {}
        self._warnings = 0
        self._collects = False  # what is unknown, instead of warning of it

    def __init_subclass__(cls) -> None:
        if "name" not in cls.__dict__:
            cls.name = f"{cls.__module__}:{cls.__qualname__}"

    @classmethod
    @abstractmethod
    def train(cls, chunks: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        """Learn the vocabulary from a text in chunks: those of `chunk_text`, or its lines."""

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Rebuild from the result of `to_json`; DataError for anything else (see `check_keys`)."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """`header()` and the vocabulary."""

    @abstractmethod
    def encode_array(self, text: str) -> np.ndarray:
        """The ids of a text in `dtype`, the compact form that token files have."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, for `torch.tensor([...])` and for models."""
        return self.encode_array(text).tolist()

    def first_token_bytes(self, text: str) -> bytes:
        """The bytes of the text that its first token covers. Override it if the first token can be unknown."""
        start = next(chunk_text([text], 1), "")
        return self.decode_bytes(self.encode_array(start)[:1])

    def count_changed(self, text: str) -> int:
        """How many characters of a text are encoded as others or as none, as `changes` says."""
        return 0

    def count_added_spaces(self, text: str) -> int:
        """How many words of a text get a space before them that was not there."""
        return 0

    def spelling_nats(self, text: str, ids: Ids) -> np.ndarray:
        """What spelling each unknown token among a text's ids costs, in their order (U).

        The default is ln 256 for each byte that no other token covers, the same for every unknown token."""
        ids_T = np.asarray(ids)
        known_T = ids_T[ids_T != self.unknown]
        missing = len(utf8(text)) - len(self.decode_bytes(known_T))
        return np.full(len(ids_T) - len(known_T), missing * BYTE_NATS / max(1, len(ids_T) - len(known_T)))

    # --- the vocabulary -----------------------------------------------------------------------------------------------

    @property
    def vocab_size(self) -> int:
        """The number of tokens, special ones included."""
        return len(self._token_bytes)

    @property
    def unknown(self) -> int | None:
        return self.ordinary_size if self.has_unknown else None

    @property
    def begin(self) -> int | None:
        return self.vocab_size - 2 if self.documents else None

    @property
    def end(self) -> int | None:
        return self.vocab_size - 1 if self.documents else None

    @property
    def never_sampled(self) -> tuple[int, ...]:
        """The ids that a model must not generate."""
        return tuple(token for token in (self.unknown, self.begin) if token is not None)

    @property
    def dtype(self) -> np.dtype:
        """The smallest unsigned type that holds every id."""
        return np.min_scalar_type(self.vocab_size - 1)

    def tokens(self) -> list[str]:
        """Every token in readable form: control characters, backslashes and broken UTF-8 are escaped."""
        special = [("<unknown>", self.unknown), ("<begin>", self.begin), ("<end>", self.end)]
        names = [name for name, token in special if token is not None]
        return [*map(_escape, self._token_bytes[: self.ordinary_size]), *names]

    # --- decoding -----------------------------------------------------------------------------------------------------

    def decode_bytes(self, ids: Ids) -> bytes:
        """The bytes of the tokens: none for begin and end, those of U+FFFD for unknown."""
        ids_N = np.asarray(ids, dtype=np.int64).ravel()
        if ids_N.size and not 0 <= ids_N.min() <= ids_N.max() < self.vocab_size:
            wrong = next(token for token in ids_N.tolist() if not 0 <= token < self.vocab_size)
            raise UsageError(f"{wrong} is not an id of this tokenizer: expected 0 to {self.vocab_size - 1}.")
        return b"".join(map(self._token_bytes.__getitem__, ids_N.tolist()))

    def decode(self, ids: Ids) -> str:
        """The text of the tokens; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode(errors="replace")

    # --- saving -------------------------------------------------------------------------------------------------------

    def header(self) -> dict[str, Any]:
        """The keys that tokenizer.json has for every tokenizer."""
        return {"format": FORMAT, "version": VERSION, "name": self.name, "documents": self.documents}

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two tokenizers that encode alike."""
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def save(self, directory: Path) -> None:
        """Write tokenizer.json, which `load_tokenizer` reads, and vocabulary.txt, which people read."""
        content = tokenizer_bytes(self)
        listing = "".join(f"{token}\t{text}\n" for token, text in enumerate(self.tokens()))
        try:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "tokenizer.json").write_bytes(content)
            (directory / "vocabulary.txt").write_bytes(listing.encode())
        except OSError as error:
            raise StorageError(f"the tokenizer cannot be written to '{directory}': {error.strerror}.") from None

    # --- the unknown token --------------------------------------------------------------------------------------------

    def collecting(self) -> Self:
        """The same tokenizer, as if it had never warned of anything: it gives no warnings, `collected` is one of all
        that was unknown."""
        twin = copy(self)
        twin._warned_of, twin._warnings, twin._collects = {}, 0, True
        return twin

    @property
    def collected(self) -> list[str]:
        full = " (and perhaps others)" if len(self._warned_of) >= MAX_COLLECTED else ""
        return [self._unknown_note([*self._warned_of]) + full] if self._warned_of else []

    def warn_of_unknown(self, texts: Iterable[str]) -> None:
        """Name what was encoded as unknown, each text once per tokenizer."""
        new = [text for text in dict.fromkeys(texts) if text not in self._warned_of]
        if self._collects:
            self._warned_of |= dict.fromkeys(new[: max(0, MAX_COLLECTED - len(self._warned_of))])
            return
        if not new or self._warnings == MAX_WARNINGS:
            return
        self._warned_of |= dict.fromkeys(new)
        self._warnings += 1
        last = " (no further warnings of this kind)" if self._warnings == MAX_WARNINGS else ""
        warnings.warn(self._unknown_note(new) + last, SeqlabWarning, stacklevel=4)

    def _unknown_note(self, texts: Sequence[str]) -> str:
        more = f" and {len(texts) - 5:,} more" if len(texts) > 5 else ""
        named = ", ".join(map(_quote_unknown, texts[:5])) + more
        return f"{named} {self.unknown_reason[len(texts) > 1]}: encoded as the unknown token"


def utf8(text: str) -> bytes:
    """The text in UTF-8; DataError for half a surrogate pair, which a Python string can hold."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"the text contains U+{ord(text[error.start]):04X}, half of a surrogate pair, which is not a character: "
            "remove it, or read the text as UTF-8."
        ) from None


def _escape(token_bytes: bytes) -> str:
    text = token_bytes.replace(b"\\", b"\\\\").decode(errors="backslashreplace")
    return text if text.isprintable() else "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character.isprintable():
        return character
    if character.isascii():
        return character.encode("unicode_escape").decode()
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _quote_unknown(text: str) -> str:
    if len(text) == 1:
        return f"{text!r} (U+{ord(text):04X})"
    return repr(text if len(text) <= 40 else text[:40] + "...")


# --- a text in chunks -----------------------------------------------------------------------------------------------

# No token spans a visible character and the space after it, and nothing before that boundary changes how the text
# after it is encoded. A text can be cut there and its chunks encoded one by one.
_BOUNDARY = re.compile(r"\S[ \t\r\n]")


def chunk_text(blocks: Iterable[str], size: int = 1 << 22) -> Iterator[str]:
    """Regroup a text so that encoding chunk by chunk equals encoding the whole.

    A chunk ends at the first boundary from `size` characters on; without a boundary it keeps growing.
    """
    assert size > 0
    chunk: list[str] = []  # the chunk so far, without `rest`
    length = 0
    rest = ""
    for block in blocks:
        rest += block
        start = 0
        while boundary := _BOUNDARY.search(rest, start + max(0, size - length - 1)):
            cut = boundary.start() + 1
            yield "".join([*chunk, rest[start:cut]])
            chunk, length, start = [], 0, cut
        # a boundary may straddle two blocks, so the last character is searched again
        chunk.append(rest[start:-1])
        length += len(chunk[-1])
        rest = rest[-1:]
    if last := "".join([*chunk, rest]):
        yield last


# --- tokenizer.json -------------------------------------------------------------------------------------------------


def tokenizer_bytes(tokenizer: Tokenizer) -> bytes:
    """The content of its file, one line per key."""
    content = tokenizer.to_json()
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in content.items()]
    stored = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if len(stored) > MAX_FILE_BYTES:
        raise UsageError(
            f"a vocabulary of {tokenizer.vocab_size:,} tokens takes {len(stored):,} bytes, more than the "
            f"{MAX_FILE_BYTES:,} that can be loaded again: lower tokenizer.vocab_size."
        )
    return stored


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer that `save` wrote as tokenizer.json. Anything else in the file is refused; nothing in it is run."""
    try:
        content = read_object(path)
        check_version(content)
        name = content.get("name")
        if not isinstance(name, str) or (name not in TOKENIZERS and ":" not in name):
            raise DataError(f"its 'name' is {quote(name)}, expected one of {', '.join(TOKENIZERS)}")
        return TOKENIZERS.load(name).from_json(content)
    except FileNotFoundError:
        raise MissingInput(f"there is no tokenizer '{path}'.") from None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror}.") from None
    except DataError as error:
        raise DataError(f"'{path}' is not a tokenizer that this seqlab can load: {error}.") from None
