"""A tolerant scan of a text: its size, characters and lines, and all encoding faults with their locations.

Training stops at the first fault; this counts them all. A text in another encoding that training recognizes is scanned
as it would be in UTF-8. Read doctor.py next.
"""

import codecs
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from seqlab.data.accents import accent_notes
from seqlab.data.encoding import ENCODING_NAMES, UTF8, recognize_encoding
from seqlab.data.files import cr_ends_lines, read_bytes
from seqlab.data.invisible import is_invisible, space_notes
from seqlab.data.lost_characters import LEFT, REPLACEMENT
from seqlab.data.text.corpus import Corpus
from seqlab.data.text.lists import SHORT_LINE, is_list
from seqlab.errors import DataError

MAX_LISTED = 20  # locations of a fault, and rare characters
RARE = 5  # a character that occurs less often is rare
LONG_LINE = 10_000
CODE_POINTS = 0x110000
ESCAPED = range(0xDC80, 0xDD00)  # how Python decodes bytes that are not UTF-8; no valid text has these

UNDECODED = "bytes that are not UTF-8"
MAX_UNDECODED = 0.1  # of all bytes, beyond which what is said of characters would be wrong
# kinds of faults, and their code points
KINDS = {
    UNDECODED: [*ESCAPED],
    "NUL characters": [0],
    "control characters": [code for code in [*range(1, 32), *range(127, 160)] if chr(code) not in "\t\n\r"],
    LEFT: [ord(REPLACEMENT)],
}
SPACES_C = np.array([chr(code).isspace() for code in range(0x3002)])  # U+3000 is the last space


@dataclass(frozen=True)
class FaultLocation:
    file: str
    line: int
    offset: int  # in bytes from the file's start
    what: str  # the byte or the code point


@dataclass
class Fault:
    """How often one kind of fault occurs, and where it occurs first."""

    kind: str
    count: int = 0
    locations: list[FaultLocation] = field(default_factory=list)


@dataclass(frozen=True)
class CharacterCount:
    code: str
    name: str
    count: int


@dataclass(frozen=True)
class CharacterStats:
    distinct: int
    rare: int
    rare_occurrences: int
    rarest: list[CharacterCount]
    invisible: list[CharacterCount]  # such as zero-width spaces, the most frequent first
    notes: list[str]  # on spaces and accents


@dataclass(frozen=True)
class LineStats:
    total: int
    empty: int  # also those of white space alone
    short: int  # and not empty
    long: int
    longest: int
    longest_at: str  # file and line
    lf: int
    crlf: int
    cr: int  # in files without LF
    lone_cr: int


@dataclass(frozen=True)
class TextScan:
    """Characters and lines as training reads them; `bytes` as the files have them, but unpacked and in
    UTF-8, with the newlines between files."""

    characters: int
    bytes: int
    words: int
    added_newlines: int  # after files that end without one, where another follows
    byte_order_marks: int
    encodings: dict[str, str]  # of the files that are not UTF-8
    lines: LineStats
    character_stats: CharacterStats
    faults: list[Fault]

    @property
    def undecoded(self) -> int:
        """Bytes that are not UTF-8."""
        return sum(fault.count for fault in self.faults if fault.kind == UNDECODED)

    @property
    def is_decoded(self) -> bool:
        """Whether characters are known: not where so many bytes are not UTF-8 that the others are of another encoding,
        too."""
        return self.undecoded <= MAX_UNDECODED * self.bytes

    @property
    def looks_like_a_list(self) -> bool:
        return is_list(self.lines.total, self.lines.empty, self.lines.short, self.words)


def scan_text(corpus: Corpus) -> TextScan:
    """Read a corpus to its end, whatever is in it. A truncated .gz file is read as far as possible."""
    scanner = _Scanner()
    for path in corpus.paths:
        scanner.read(str(path), scanner.in_utf8(path))
    if not corpus.paths:
        scanner.read(corpus.name, (block.encode() for block in corpus.blocks()))
    return scanner.result()


class _Scanner:
    """The counts so far. Arrays over N have an entry for each character of a block, over C for each code point."""

    def __init__(self) -> None:
        self.counts_C = np.zeros(CODE_POINTS, np.int64)
        self.bytes = self.words = self.added_newlines = self.marks = self.crlf = self.cr = 0
        self.filled = self.short = self.long = self.longest = 0
        self.longest_at = ""
        self.faults = {kind: Fault(kind) for kind in (*KINDS, "truncated .gz files")}
        self.encodings: dict[str, str] = {}
        self.file, self.line, self.offset = "", 1, 0
        self.length = self.visible = 0  # of the unfinished line: characters, and those that are no white space
        self.last = "\n"

    def in_utf8(self, path: Path) -> Iterable[bytes]:
        """The bytes of a file, in UTF-8 if training recognizes another encoding."""
        try:
            codec, has_cr = recognize_encoding(read_bytes(path)) or UTF8, cr_ends_lines(path)
        except DataError:
            codec, has_cr = UTF8, False
        blocks = read_bytes(path)
        if codec != UTF8:
            self.encodings[str(path)] = ENCODING_NAMES[codec]
            decoder = codecs.getincrementaldecoder(codec)("replace")
            blocks = (decoder.decode(block).encode() for block in blocks)
        return map(self._with_lf, blocks) if has_cr else blocks

    def _with_lf(self, block: bytes) -> bytes:
        self.cr += block.count(b"\r")
        return block.replace(b"\r", b"\n")

    def read(self, file: str, blocks: Iterable[bytes]) -> None:
        """Scan one file."""
        self.file, self.line, self.offset = file, 1, 0
        begun = False
        try:
            for text in self._decoded(blocks):
                if not begun and self.last != "\n":  # training puts a newline between two files
                    self.counts_C[ord("\n")] += 1
                    self.added_newlines += 1
                    self.bytes += 1
                    self.last = "\n"
                begun = True
                self._add(text, _code_points(text))
        except DataError as error:
            self._add_fault("truncated .gz files", self.line, self.offset, str(error))
        if begun and self.last != "\n":
            self._add_lines(np.array([self.length]), np.array([self.visible]))
            self.length = self.visible = 0

    def _decoded(self, blocks: Iterable[bytes]) -> Iterator[str]:
        """Blocks of text, none of which ends between CR and LF; bytes that are not UTF-8 are escaped."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        begun, pending_cr = False, ""
        for block in chain(blocks, [b""]):
            raw = block
            self.bytes += len(block)
            if not begun and block.startswith(codecs.BOM_UTF8):
                raw = block.removeprefix(codecs.BOM_UTF8)
                self.marks, self.offset = self.marks + 1, len(codecs.BOM_UTF8)
            begun = True
            text = pending_cr + decoder.decode(raw, final=not block)
            pending_cr = "\r" if block and text.endswith("\r") else ""
            if len(text) > len(pending_cr):
                yield text.removesuffix(pending_cr)

    def _add(self, text: str, codes_N: np.ndarray) -> None:
        counts_C = np.bincount(codes_N)
        self.counts_C[: len(counts_C)] += counts_C
        for kind, codes in KINDS.items():
            present = [code for code in codes if code < len(counts_C) and counts_C[code]]
            if present:
                self._locate(kind, text, np.isin(codes_N, present))
        space_N = SPACES_C.take(codes_N, mode="clip")
        self.words += int((space_N[:-1] & ~space_N[1:]).sum()) + int(self.last.isspace() and not space_N[0])
        ends_E = np.flatnonzero(codes_N == ord("\n"))
        visible_N = np.cumsum(~space_N)
        self.visible += int(visible_N[-1])
        if len(ends_E):
            crlf_E = (ends_E > 0) & (codes_N[ends_E - 1] == ord("\r"))  # no block begins between CR and LF
            lengths_E = np.diff(ends_E, prepend=-1) - 1 - crlf_E
            lengths_E[0] += self.length
            self.crlf += int(crlf_E.sum())
            visible_E = np.diff(visible_N[ends_E], prepend=0)
            visible_E[0] += self.visible - visible_N[-1]
            self._add_lines(lengths_E, visible_E)
            self.length, self.visible = -int(ends_E[-1]) - 1, int(visible_N[-1] - visible_N[ends_E[-1]])
        self.length += len(codes_N)
        self.line += len(ends_E)
        self.offset += len(_bytes(text))
        self.last = text[-1]

    def _add_lines(self, lengths_E: np.ndarray, visible_E: np.ndarray) -> None:
        """Count finished lines by their lengths; the first one is the current line. Training skips those of white
        space alone, so they count as empty."""
        self.filled += int((visible_E > 0).sum())
        self.short += int(((visible_E > 0) & (lengths_E <= SHORT_LINE)).sum())
        self.long += int((lengths_E > LONG_LINE).sum())
        top = int(lengths_E.argmax())
        if lengths_E[top] > self.longest:
            self.longest, self.longest_at = int(lengths_E[top]), f"{self.file}, line {self.line + top}"

    def _locate(self, kind: str, text: str, faulty_N: np.ndarray) -> None:
        """Count a block's faults of one kind, and locate the first ones."""
        fault = self.faults[kind]
        positions = np.flatnonzero(faulty_N)
        for at in positions[: MAX_LISTED - len(fault.locations)].tolist():
            before, code = text[:at], ord(text[at])
            what = f"0x{code - 0xDC00:02x}" if code in ESCAPED else f"U+{code:04X}"
            line, offset = self.line + before.count("\n"), self.offset + len(_bytes(before))
            fault.locations.append(FaultLocation(self.file, line, offset, what))
        fault.count += len(positions)

    def _add_fault(self, kind: str, line: int, offset: int, what: str) -> None:
        self.faults[kind].count += 1
        self.faults[kind].locations.append(FaultLocation(self.file, line, offset, what))

    def result(self) -> TextScan:
        counts_C = self.counts_C
        counts_C[ord("\r")] -= self.crlf  # the CR of a CRLF is not a character of the text
        characters, newlines = int(counts_C.sum()), int(counts_C[ord("\n")])
        total = newlines + (self.last != "\n")
        ends = {
            "lf": newlines - self.crlf - self.cr,
            "crlf": self.crlf,
            "cr": self.cr,
            "lone_cr": int(counts_C[ord("\r")]),
        }
        lines = LineStats(total, total - self.filled, self.short, self.long, self.longest, self.longest_at, **ends)
        faults = [fault for fault in self.faults.values() if fault.count]
        character_stats = _character_stats(counts_C)
        sizes = (characters, self.bytes, self.words, self.added_newlines, self.marks)
        return TextScan(*sizes, self.encodings, lines, character_stats, faults)


def _character_stats(counts_C: np.ndarray) -> CharacterStats:
    counts_C = counts_C.copy()
    counts_C[ESCAPED.start : ESCAPED.stop] = 0  # bytes, not characters
    rare = np.flatnonzero((counts_C > 0) & (counts_C < RARE))
    rarest = rare[np.argsort(counts_C[rare], kind="stable")][:MAX_LISTED].tolist()
    found = np.flatnonzero(counts_C)
    listed = {code for codes in KINDS.values() for code in codes}  # as faults, with their places
    invisible = [code for code in found.tolist() if is_invisible(chr(code)) and code not in listed]
    invisible.sort(key=lambda code: -counts_C[code])
    named, unseen = (
        [CharacterCount(f"U+{code:04X}", _name(chr(code)), int(counts_C[code])) for code in codes]
        for codes in (rarest, invisible)
    )
    beyond = {chr(code): int(counts_C[code]) for code in found.tolist() if code > 127}
    notes = [*space_notes(beyond), *accent_notes(beyond)]
    return CharacterStats(len(found), len(rare), int(counts_C[rare].sum()), named, unseen, notes)


def _name(character: str) -> str:
    control = unicodedata.category(character) == "Cc"
    return unicodedata.name(character, "control character" if control else "character without a name")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
