"""What every tokenizer promises, and the file it is kept in.

Ordinary symbols come first, then the special ones: unknown where the tokenizer can meet something unknown, begin
and end where a corpus is made of documents. Special symbols have no spelling, so text never becomes one, whatever
it looks like. Read char.py next, the simplest tokenizer that learns, or stored.py
on what a file may hold.
"""

import hashlib
import json
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError, MissingInput, SeqlabWarning, StorageError, UsageError
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.serialization import FORMAT, LARGEST_FILE, VERSION, check_version, read_object, shown

Ids = np.ndarray | Sequence[int]

REPLACEMENT = "\ufffd"  # how text shows what could not be read
MOST_WARNINGS = 20  # of one tokenizer: a text encoded line by line may have something unknown in each


class Tokenizer(ABC):
    """Text to ids and back. `documents` reserves a begin and an end symbol."""

    name: ClassVar[str]
    can_meet_unknown: ClassVar[bool]
    absence: ClassVar[tuple[str, str]] = ("", "")  # what the warning says of one unknown symbol, and of several

    def __init__(self, spellings: Sequence[bytes], documents: bool = False):
        self.documents = documents
        self._ordinary = len(spellings)
        self._spellings = [*spellings]
        if self.can_meet_unknown:
            self._spellings.append(REPLACEMENT.encode())
        if documents:
            self._spellings += [b"", b""]
        self._warned_of: set[str] = set()
        self._warnings = 0

    @classmethod
    @abstractmethod
    def train(cls, pieces: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        """Learn the symbols from a text that comes in pieces: those of `cut_pieces`, or its lines."""

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Rebuild from what `to_json` gave; anything that we do not write is refused."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]: ...

    @abstractmethod
    def encode(self, text: str) -> np.ndarray:
        """The text's ids, in the smallest unsigned type that holds the vocabulary."""

    @abstractmethod
    def first(self, text: str) -> bytes:
        """The bytes of a text that its first token stands for."""

    # --- the symbols ------------------------------------------------------------------------------------------------

    @property
    def ordinary(self) -> int:
        """How many ordinary symbols there are."""
        return self._ordinary

    @property
    def vocab_size(self) -> int:
        """How many symbols there are, ordinary and special."""
        return len(self._spellings)

    @property
    def unknown(self) -> int | None:
        return self._ordinary if self.can_meet_unknown else None

    @property
    def begin(self) -> int | None:
        return self.vocab_size - 2 if self.documents else None

    @property
    def end(self) -> int | None:
        return self.vocab_size - 1 if self.documents else None

    @property
    def never_sampled(self) -> tuple[int, ...]:
        """The ids that a model must not generate."""
        return tuple(number for number in (self.unknown, self.begin) if number is not None)

    @property
    def dtype(self) -> np.dtype:
        """The smallest unsigned type that holds every id."""
        return np.min_scalar_type(self.vocab_size - 1)

    def symbols(self) -> list[str]:
        """Every symbol as people read it: control characters, backslashes and broken UTF-8 are escaped."""
        special = [("<unknown>", self.unknown), ("<begin>", self.begin), ("<end>", self.end)]
        names = [name for name, number in special if number is not None]
        return [*map(_readable, self._spellings[: self._ordinary]), *names]

    # --- back to text -----------------------------------------------------------------------------------------------

    def decode_bytes(self, ids: Ids) -> bytes:
        """The bytes that the ids stand for: begin and end give none, unknown gives those of U+FFFD."""
        numbers = np.asarray(ids, dtype=np.int64).ravel()
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.vocab_size:
            wrong = next(number for number in numbers.tolist() if not 0 <= number < self.vocab_size)
            raise UsageError(f"{wrong} is not an id of this tokenizer: expected 0 to {self.vocab_size - 1}.")
        return b"".join(map(self._spellings.__getitem__, numbers.tolist()))

    def decode(self, ids: Ids) -> str:
        """The text that the ids stand for; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(ids).decode(errors="replace")

    # --- what is kept -----------------------------------------------------------------------------------------------

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
        stored = tokenizer_bytes(self)
        listed = "".join(f"{number}\t{symbol}\n" for number, symbol in enumerate(self.symbols()))
        try:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "tokenizer.json").write_bytes(stored)
            (directory / "vocabulary.txt").write_bytes(listed.encode())
        except OSError as error:
            raise StorageError(f"the tokenizer cannot be written to '{directory}': {error.strerror}.") from None

    # --- what is unknown --------------------------------------------------------------------------------------------

    def _warn_of(self, met: Iterable[str]) -> None:
        """Name the symbols that are read as unknown, each once in this tokenizer's life."""
        new = [symbol for symbol in dict.fromkeys(met) if symbol not in self._warned_of]
        if not new or self._warnings == MOST_WARNINGS:
            return
        self._warned_of.update(new)
        self._warnings += 1
        named = ", ".join(map(_named, new[:5])) + (f" and {len(new) - 5} more" if len(new) > 5 else "")
        absence = self.absence[len(new) > 1]
        last = " (as will others be, without a warning)" if self._warnings == MOST_WARNINGS else ""
        warnings.warn(f"{named} {absence}: read as the unknown symbol{last}", SeqlabWarning, stacklevel=3)


def utf8(text: str) -> bytes:
    """The text's bytes. Half a surrogate pair, which a Python string can hold, is not a character and is refused."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"the text holds U+{ord(text[error.start]):04X}, half of a surrogate pair and not a character by itself: "
            "remove it, or read the text as UTF-8."
        ) from None


def _readable(spelling: bytes) -> str:
    text = spelling.replace(b"\\", b"\\\\").decode(errors="backslashreplace")
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    if character.isascii():
        return character.encode("unicode_escape").decode()
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _named(symbol: str) -> str:
    if len(symbol) == 1:
        return f"{symbol!r} (U+{ord(symbol):04X})"
    return repr(symbol if len(symbol) <= 40 else symbol[:40] + "...")


# --- a text in pieces -----------------------------------------------------------------------------------------------

# No token goes on from a visible character to a space, and what comes before a place never changes how the text
# after it is read; so a text may be cut here, and its parts encoded one by one.
_SAFE = re.compile(r"\S[ \t\r\n]")


def cut_pieces(blocks: Iterable[str], size: int = 1 << 22) -> Iterator[str]:
    """Regroup a text so that encoding piece by piece equals encoding the whole.

    A piece ends at the first safe place from `size` characters on, and goes on growing where there is none.
    """
    assert size > 0
    held: list[str] = []  # what the piece has so far, but for `rest`
    length = 0
    rest = ""
    for block in blocks:
        rest += block
        start = 0
        while safe := _SAFE.search(rest, start + max(0, size - length - 1)):
            cut = safe.start() + 1
            yield "".join([*held, rest[start:cut]])
            held, length, start = [], 0, cut
        # A safe place may straddle two blocks: the last character is looked at again.
        held.append(rest[start:-1])
        length += len(held[-1])
        rest = rest[-1:]
    if last := "".join([*held, rest]):
        yield last


# --- a tokenizer in its file --------------------------------------------------------------------------------------


def tokenizer_bytes(tokenizer: Tokenizer) -> bytes:
    """What its file holds, a line for each key."""
    content = tokenizer.to_json()
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in content.items()]
    stored = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    if len(stored) > LARGEST_FILE:
        raise UsageError(
            f"a vocabulary of {tokenizer.vocab_size:,} symbols takes {len(stored):,} bytes to keep, more than the "
            f"{LARGEST_FILE:,} that can be loaded again: lower tokenizer.vocab_size."
        )
    return stored


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer that `save` wrote as tokenizer.json. A file with anything else in it is refused; nothing is run."""
    try:
        content = read_object(path)
        check_version(content)
        name = content.get("name")
        if not isinstance(name, str) or name not in TOKENIZERS:
            raise DataError(f"its 'name' is {shown(name)}, expected one of {', '.join(TOKENIZERS)}")
        return TOKENIZERS.load(name).from_json(content)
    except FileNotFoundError:
        raise MissingInput(f"there is no tokenizer '{path}'.") from None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror}.") from None
    except DataError as error:
        raise DataError(f"'{path}' is not a tokenizer that this seqlab can load: {error}.") from None
