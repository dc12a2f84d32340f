"""Documents from the bytes of a source: the rows of JSON lines, or stretches of a running text.

A text file is cut into stretches where a cut can be found from any place of the file, so that several workers divide
one file: after the first newline from each multiple of STRETCH on; in a line without end, at a space or a character.
"""

import codecs
import hashlib
import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from seqlab.data.corpora.faults import BROKEN, CRLF, EMPTY, ENDS, MARKS, NULS, REPEATED, UNDECODABLE, Faults
from seqlab.data.corpora.source import TextSource
from seqlab.data.corpora.streams import ByteWindow
from seqlab.data.encoding import UTF8
from seqlab.errors import DataError

STRETCH = 1 << 18  # bytes of a text file that belong to one split together
NEAR = 1 << 16  # bytes after a multiple of STRETCH in which a newline or space is looked for
MAX_LINE = 1 << 26  # bytes of a row of JSON lines
SCANNED = 1 << 20  # bytes of a longer row that are held while its end is searched
MAX_UNDECODABLE, LEAST_UNDECODABLE = 0.01, 100  # share of the bytes of a file, and number, from which it is refused
SPACE = re.compile(rb"[ \t\r\f\v]")
CONTINUES = re.compile(rb"[\x80-\xbf]{0,3}")  # the rest of a character of UTF-8
REPLACEMENT = "\ufffd"


class CorpusDocument(NamedTuple):
    """A document that ends with a newline, and its SHA-256, which also decides on its split."""

    text: str
    raw: bytes  # in UTF-8
    digest: bytes


class DocumentReader:
    """Turns the bytes of one source into documents, and counts what is wrong with them."""

    def __init__(self, source: TextSource, faults: Faults):
        self.source, self.faults = source, faults
        self._undecodable = self._bytes = 0
        self._key = json.dumps(source.column, ensure_ascii=False).encode(errors="replace")  # as a row writes it

    def documents(self, window: ByteWindow, first: int, last: int | None) -> Iterator[CorpusDocument]:
        """The documents that begin from `first` to before `last`."""
        texts = self._rows(window, first, last) if self.source.form == "rows" else self._stretches(window, first, last)
        for offset, text in texts:
            if (document := self.document(text, f"offset {offset:,}")) is not None:
                yield document

    def document(self, text: str, place: str) -> CorpusDocument | None:
        """A document of this text; None, and a count, if it is empty or no text."""
        if "\r\n" in text:
            self.count(CRLF, place, text.count("\r\n"))
            text = text.replace("\r\n", "\n")
        if "\0" in text:
            self.count(NULS, place, text.count("\0"))
            text = text.replace("\0", "")
        if not text.strip():
            self.count(EMPTY, place)
            return None
        ended = text if text.endswith("\n") else text + "\n"
        try:
            raw = ended.encode()
        except UnicodeEncodeError:
            self.count(BROKEN, f"{place}: half of a surrogate pair, which is not a character")
            return None
        self.count(ENDS, place, len(ended) - len(text))
        return CorpusDocument(ended, raw, hashlib.sha256(raw).digest())

    def count(self, kind: str, place: str, number: int = 1) -> None:
        self.faults.add(kind, self.source.name, place, number)

    # --- running text -------------------------------------------------------------------------------------------------

    def _stretches(self, window: ByteWindow, first: int, last: int | None) -> Iterator[tuple[int, str]]:
        start = _cut(window, first)
        for border in count(first + STRETCH, STRETCH) if last is None else range(first + STRETCH, last + 1, STRETCH):
            end = _cut(window, border)
            if end > start:
                yield start, self._decode(window.peek(start, end), start)
            window.drop(min(border, end))
            start = end
            if window.ended and end == window.end:
                return

    def _decode(self, raw: bytes, offset: int) -> str:
        if offset == 0 and raw.startswith(codecs.BOM_UTF8):
            self.count(MARKS, "offset 0")
            raw = raw[len(codecs.BOM_UTF8) :]
        try:
            return raw.decode(self.source.codec)
        except UnicodeDecodeError as error:
            text = raw.decode(self.source.codec, errors="replace")
            marks = raw.count(REPLACEMENT.encode()) if self.source.codec == UTF8 else 0
            self._refuse_other_encoding(text.count(REPLACEMENT) - marks, len(raw), offset + error.start)
            self.count(UNDECODABLE, f"offset {offset + error.start:,}", text.count(REPLACEMENT) - marks)
            return text

    def _refuse_other_encoding(self, undecodable: int, size: int, offset: int) -> None:
        self._undecodable, self._bytes = self._undecodable + undecodable, self._bytes + size
        if self._undecodable > max(LEAST_UNDECODABLE, MAX_UNDECODABLE * self._bytes):
            raise DataError(
                f"'{self.source.name}', offset {offset:,}: {self._undecodable:,} of {self._bytes:,} bytes around it "
                f"are not UTF-8. Convert the file: iconv -f ENCODING -t UTF-8 FILE > NEW, or leave it out."
            )

    # --- JSON lines ---------------------------------------------------------------------------------------------------

    def _rows(self, window: ByteWindow, first: int, last: int | None) -> Iterator[tuple[int, str]]:
        # what was read before the window ends with a newline
        at = window.offset if window.offset >= first else _line_end(window, first - 1)[0]
        while last is None or at < last:
            end, is_long = _line_end(window, at)
            if end == at:
                return
            if is_long:
                self.count(BROKEN, f"offset {at:,}: a line of more than {MAX_LINE:,} bytes")
            elif (line := window.peek(at, end)).strip():
                text = self._text_of(line.removeprefix(codecs.BOM_UTF8) if at == 0 else line, at)
                if text is not None:
                    yield at, text
            window.drop(end)
            at = end

    def _text_of(self, line: bytes, at: int) -> str | None:
        """The text of a row; None, and a count, if there is none."""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = "bytes that are not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
            self.count(BROKEN, f"offset {at:,}: {reason}")
            return None
        column = self.source.column
        if line.count(self._key) > 1 and _repeats(line, column):
            self.count(REPEATED, f"offset {at:,}: '{column}' stands more than once")
        value = row.get(column) if isinstance(row, dict) else None
        if isinstance(value, str):
            return value
        if isinstance(row, dict) and column in row and value is None:
            self.count(EMPTY, f"offset {at:,}: '{column}' is null")
            return None
        reason = f"'{column}' is no text" if isinstance(row, dict) and column in row else f"no '{column}'"
        self.count(BROKEN, f"offset {at:,}: {reason if isinstance(row, dict) else 'no object'}")
        return None


def _repeats(line: bytes, key: str) -> bool:
    """Whether an object has a key more than once; JSON readers keep the last one."""
    pairs: list[list[tuple[str, Any]]] = []  # of every object, the outer one last
    json.loads(line, object_pairs_hook=pairs.append)
    return bool(pairs) and sum(name == key for name, _ in pairs[-1]) > 1


def _cut(window: ByteWindow, border: int) -> int:
    """Where the stretch begins that belongs to a multiple of STRETCH."""
    if border == 0:
        return 0
    newline = window.find(b"\n", border, border + NEAR)
    if newline >= 0:
        return newline + 1
    near = window.peek(border, border + NEAR)
    if not near:
        return window.end
    if space := SPACE.search(near):
        return border + space.start()
    rest = CONTINUES.match(near)
    assert rest is not None
    return border + rest.end()


def _line_end(window: ByteWindow, first: int) -> tuple[int, bool]:
    """The offset after the newline of a line, and whether the line is too long to be read."""
    searched = first
    while (newline := window.find(b"\n", searched, searched + SCANNED)) < 0:
        if window.ended and window.end <= searched + SCANNED:
            return window.end, window.end - first > MAX_LINE
        searched += SCANNED
        if searched - first > MAX_LINE:
            window.drop(searched)
    return newline + 1, newline + 1 - first > MAX_LINE
