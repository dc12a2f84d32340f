"""Bytes to text, in blocks: strict UTF-8, with the file, line and offset of whatever is wrong.

A byte-order mark at the start is dropped and CRLF becomes LF; both are counted, so that they can be said aloud.
"""

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from seqlab.errors import DataError, MissingInput, StorageError

BLOCK = 1 << 20


@dataclass
class Oddities:
    """What was put right on the way in."""

    byte_order_marks: int = 0
    carriage_returns: int = 0


def read_file(path: Path, oddities: Oddities) -> Iterator[str]:
    """The text of a plain or gzipped file, block by block."""
    yield from decode(read_bytes(path), str(path), oddities)


def read_bytes(path: Path) -> Iterator[bytes]:
    """The bytes of a plain or gzipped file, block by block, whatever they mean."""
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


def decode(blocks: Iterable[bytes], name: str, oddities: Oddities) -> Iterator[str]:
    """Text blocks of a file's bytes, or DataError with line and offset."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    end, line, held = 0, 1, ""
    for block in chain(blocks, [b""]):  # the empty one brings out what is still held back
        raw = _without_mark(block, name, oddities) if end == 0 else block
        end += len(block)
        pending = len(decoder.getstate()[0])
        try:
            text = held + decoder.decode(raw, final=not block)
        except UnicodeDecodeError as error:
            raise _not_utf8(name, error, end - len(raw) - pending, line) from None
        # a CR at the end of a block may belong to a CRLF
        held = "\r" if block and text.endswith("\r") else ""
        text = text[: len(text) - len(held)]
        if "\0" in text:
            at = line + text[: text.index("\0")].count("\n")
            raise DataError(f"'{name}', line {at}: a NUL character. Is it binary, or UTF-16? Convert it to UTF-8.")
        if "\r\n" in text:
            oddities.carriage_returns += text.count("\r\n")
            text = text.replace("\r\n", "\n")
        line += text.count("\n")
        if text:
            yield text


def _without_mark(raw: bytes, name: str, oddities: Oddities) -> bytes:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"'{name}' is UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 '{name}' > new.txt")
    if raw.startswith(codecs.BOM_UTF8):
        oddities.byte_order_marks += 1
        return raw[len(codecs.BOM_UTF8) :]
    return raw


def _not_utf8(name: str, error: UnicodeDecodeError, base: int, line: int) -> DataError:
    at = line + error.object[: error.start].count(b"\n")
    byte = error.object[error.start]
    return DataError(
        f"'{name}', line {at}, offset {base + error.start}: byte 0x{byte:02x} is not UTF-8. "
        f"If the file is Latin-1, convert it: iconv -f LATIN1 -t UTF-8 '{name}' > new.txt"
    )
