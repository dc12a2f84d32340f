"""One tolerant reading of a text: its size, its symbols and lines, and what is wrong with it and where.

Training stops at the first fault; this goes on and counts them all. Read doctor.py next.
"""

import codecs
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from seqlab.data.corpus import Corpus
from seqlab.data.reading import read_bytes
from seqlab.errors import DataError

LISTED = 20  # places of a fault, and rare symbols, that are named
RARE = 5  # a symbol seen less often is rare
SHORT_LINE = 40  # characters
LONG_LINE = 10_000
CODE_POINTS = 0x110000
ESCAPED = range(0xDC80, 0xDD00)  # what Python reads a byte as that is not UTF-8; no valid text has these

# kinds of faults, and the code points that show them
KINDS = {
    "bytes that are not UTF-8": [*ESCAPED],
    "NUL characters": [0],
    "control characters": [code for code in [*range(1, 32), *range(127, 160)] if chr(code) not in "\t\n\r"],
    "U+FFFD, left by a conversion that went wrong": [0xFFFD],
}
SPACES_C = np.array([chr(code).isspace() for code in range(0x3002)])  # U+3000 is the last; what lies beyond is none


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    offset: int  # in bytes from the file's start
    what: str


@dataclass
class Fault:
    """How often one kind of fault occurs, and its first places."""

    kind: str
    count: int = 0
    places: list[Place] = field(default_factory=list)


@dataclass(frozen=True)
class Symbol:
    code: str
    name: str
    count: int


@dataclass(frozen=True)
class Symbols:
    """How many distinct characters there are, how many of them are rare, in how many places, and the rarest."""

    distinct: int
    rare: int
    rare_places: int
    rarest: list[Symbol]


@dataclass(frozen=True)
class Lines:
    total: int
    empty: int
    short: int  # but not empty
    long: int
    longest: int
    longest_at: str  # file and line
    lf: int
    crlf: int
    lone_cr: int


@dataclass(frozen=True)
class Scan:
    """Characters and lines are those that training reads, `bytes` those that the files hold."""

    characters: int
    bytes: int
    words: int
    byte_order_marks: int
    lines: Lines
    symbols: Symbols
    faults: list[Fault]

    @property
    def looks_like_a_list(self) -> bool:
        """At least fifty lines, nearly all of them short, three words or fewer on average, hardly any empty."""
        filled = self.lines.total - self.lines.empty
        few_words = self.words <= 3 * filled and self.lines.empty <= 0.01 * filled
        return filled >= 50 and self.lines.short >= 0.95 * filled and few_words


def scan(corpus: Corpus) -> Scan:
    """Read a corpus to its end, whatever it holds. Of a packed file that breaks off, what comes before is read."""
    reading = _Reading()
    for path in corpus.paths:
        reading.read(str(path), read_bytes(path))
    if not corpus.paths:
        reading.read(corpus.name, (block.encode() for block in corpus.blocks()))
    return reading.result()


class _Reading:
    """The counts so far. Arrays over N have an entry for each character of a block, over C for each code point."""

    def __init__(self) -> None:
        self.counts_C = np.zeros(CODE_POINTS, np.int64)
        self.bytes = self.words = self.marks = self.crlf = 0
        self.filled = self.short = self.long = self.longest = 0
        self.longest_at = ""
        self.faults = {kind: Fault(kind) for kind in (*KINDS, "files in UTF-16", "packed files that break off")}
        self.file, self.line, self.offset = "", 1, 0
        self.length = 0  # of the line that goes on
        self.last = "\n"

    def read(self, file: str, blocks: Iterable[bytes]) -> None:
        """One file to its end."""
        ends_line, self.file, self.line, self.offset = self.last == "\n", file, 1, 0
        try:
            for text in self._decoded(blocks):
                if not ends_line:  # training puts a newline between two files
                    self._count(np.array([10]))
                    self.line, ends_line = 1, True
                self._find_faults(text)
                self._count(_code_points(text))
                self.offset += len(_raw(text))
                self.last = text[-1]
        except DataError as error:
            self._note("packed files that break off", "", str(error))

    def _decoded(self, blocks: Iterable[bytes]) -> Iterator[str]:
        """Blocks of text, none of which ends between CR and LF; bytes that are not UTF-8 are escaped."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        begun, held = False, ""
        for block in chain(blocks, [b""]):
            raw = block
            self.bytes += len(block)
            if not begun and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                self._note("files in UTF-16", "", f"0x{block[:2].hex()}")
                self.bytes += sum(map(len, blocks))
                return
            if not begun and block.startswith(codecs.BOM_UTF8):
                raw = block.removeprefix(codecs.BOM_UTF8)
                self.marks, self.offset = self.marks + 1, len(codecs.BOM_UTF8)
            begun = True
            text = held + decoder.decode(raw, final=not block)
            held = "\r" if block and text.endswith("\r") else ""
            if text := text[: len(text) - len(held)]:
                yield text

    # --- faults -----------------------------------------------------------------------------------------------------

    def _find_faults(self, text: str) -> None:
        pass

    def _note(self, kind: str, before: str, what: str) -> None:
        """Count a fault that stands after the text `before` in the block; keep its place if it is among the first."""

    # --- sizes ------------------------------------------------------------------------------------------------------
