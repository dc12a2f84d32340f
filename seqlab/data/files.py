"""Files to text and lines: strict UTF-8, with the file, line and offset of every error.

A byte-order mark at the start is removed and CRLF becomes LF; `InputFixes` counts both for the notes of a run.
"""

import codecs
import errno
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from seqlab.errors import DataError, MissingInput, StorageError, UsageError

BLOCK = 1 << 20
STANDARD_INPUT = "-"


@dataclass
class InputFixes:
    """What reading corrected, over all files of a corpus."""

    byte_order_marks: int = 0
    crlf_lines: int = 0
    double_tags: int = 0
    run_folders: int = 0  # left out of a folder of texts

    def notes(self) -> list[str]:
        notes = []
        if self.byte_order_marks:
            notes.append("removed a byte-order mark at the start of a file")
        if self.crlf_lines:
            notes.append(f"read {self.crlf_lines:,} CRLF line endings as LF")
        if self.double_tags:
            notes.append(f"{self.double_tags:,} words have two tags joined by a comma; only the first is used")
        if self.run_folders:
            notes.append(f"left out {self.run_folders:,} folders of seqlab runs and comparisons")
        return notes


def existing_path(item: str) -> Path | None:
    """The path, or None if nothing exists there; UsageError if it cannot be read several times."""
    if not item:
        raise UsageError("an empty name was given: name a file or a folder, such as '.' for this one.")
    try:
        if not Path(item).exists():
            return None
        if not Path(item).is_file() and not Path(item).is_dir():
            raise UsageError(
                f"'{item}' is a pipe or a device, and seqlab reads a text several times. Give '-' and pipe the text "
                f"into standard input (cat my.txt | seqlab ... -), or save it to a file first."
            )
        return Path(item)
    except ValueError:  # a NUL in the name
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise StorageError(f"'{error.filename or item}' cannot be read: {error.strerror}.") from None


def shorten(text: str, longest: int = 200) -> str:
    """The text, cut if it is too long for a message."""
    return text if len(text) <= longest else text[:longest] + "..."


def read_file(path: Path, fixes: InputFixes) -> Iterator[str]:
    """The text of a plain or gzipped file, block by block."""
    yield from decode(read_bytes(path), str(path), fixes)


def read_bytes(path: Path) -> Iterator[bytes]:
    """The bytes of a plain or gzipped file, block by block."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            while raw := stream.read(BLOCK):
                yield raw
    except FileNotFoundError:
        raise MissingInput(f"there is no file '{path}'.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' ends in .gz but cannot be unpacked: {error}.") from None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror}.") from None


def decode(blocks: Iterable[bytes], name: str, fixes: InputFixes) -> Iterator[str]:
    """The text of a file's bytes in blocks, or DataError with line and offset."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    end, line, pending_cr = 0, 1, ""
    for block in chain(blocks, [b""]):  # the empty block flushes the decoder
        raw = _remove_mark(block, name, fixes) if end == 0 else block
        end += len(block)
        pending = len(decoder.getstate()[0])
        try:
            text = pending_cr + decoder.decode(raw, final=not block)
        except UnicodeDecodeError as error:
            raise _not_utf8(name, error, end - len(raw) - pending, line) from None
        # a CR at the end of a block may belong to a CRLF
        pending_cr = "\r" if block and text.endswith("\r") else ""
        text = text[: len(text) - len(pending_cr)]
        if "\0" in text:
            line += text[: text.index("\0")].count("\n")
            raise DataError(
                f"'{name}', line {line}: a NUL character. Text has none: if the file is binary, give another; if it is "
                f"UTF-16, convert it to UTF-8; otherwise remove them: tr -d '\\000' < FILE > CLEAN."
            )
        if "\r\n" in text:
            fixes.crlf_lines += text.count("\r\n")
            text = text.replace("\r\n", "\n")
        line += text.count("\n")
        if text:
            yield text


def split_lines(blocks: Iterable[str]) -> Iterator[str]:
    """The lines of a text without their newlines; only LF ends a line."""
    line: list[str] = []
    for block in blocks:
        *complete, rest = block.split("\n")
        for end in complete:
            yield "".join([*line, end])
            line = []
        if rest:
            line.append(rest)
    if line:
        yield "".join(line)


def _remove_mark(raw: bytes, name: str, fixes: InputFixes) -> bytes:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"'{name}' is UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 '{name}' > new.txt")
    if raw.startswith(codecs.BOM_UTF8):
        fixes.byte_order_marks += 1
        return raw[len(codecs.BOM_UTF8) :]
    return raw


def _not_utf8(name: str, error: UnicodeDecodeError, base: int, line: int) -> DataError:
    line += error.object[: error.start].count(b"\n")
    byte = error.object[error.start]
    return DataError(
        f"'{name}', line {line}, offset {base + error.start}: byte 0x{byte:02x} is not UTF-8. "
        f"If the file is Latin-1, convert it: iconv -f LATIN1 -t UTF-8 '{name}' > new.txt"
    )
