"""The unpacked bytes of a source, block by block, from any place on.

Files and addresses are opened alike; gzip and zstd are unpacked on the way. `ByteWindow` keeps only what is needed.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from seqlab.data.corpora.source import TextSource, is_address
from seqlab.data.parquet_files import NEEDS_EXTRA
from seqlab.errors import DataError, MissingInput, SeqlabError, StorageError, UsageError

BLOCK = 1 << 20
PACKED_BLOCK = 1 << 16  # bytes of zstd unpacked at once, which bounds the memory


class DamagedPacking(DataError):
    """A packed file cannot be unpacked any further."""


class SourceChanged(DataError):
    """A source is no longer what it was when the corpus was opened."""

    def __init__(self, name: str):
        super().__init__(
            f"'{name}' was changed while seqlab was using it. Restore it, or repeat the command with the new text."
        )


@contextmanager
def source_errors(name: str) -> Iterator[None]:
    """Errors of reading as messages; those of addresses can be of any class, as every store has its own."""
    try:
        yield
    except FileNotFoundError:
        unreachable = ", or it cannot be reached" if is_address(name) else ""
        raise MissingInput(f"there is no '{name}'{unreachable}.") from None
    except ImportError as error:
        raise UsageError(f"'{name}' cannot be read: {error}. Install what it needs: {NEEDS_EXTRA}") from None
    except OSError as error:
        raise StorageError(f"'{name}' cannot be read: {error.strerror or error}.") from None
    except Exception as error:
        if isinstance(error, SeqlabError) or not is_address(name):
            raise
        reason = f"{type(error).__name__} {error}".strip()
        raise StorageError(f"'{name}' cannot be read: {reason}. Repeat the command: what is done is kept.") from None


def file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    with source_errors(address):
        import fsspec.core

        return fsspec.core.url_to_fs(address)


def stamp_of(name: str) -> tuple[int, str, bool]:
    """The size as stored, what changes when the file does, and whether reading can begin anywhere."""
    if not is_address(name):
        with source_errors(name):
            status = Path(name).stat()
        return status.st_size, str(status.st_mtime_ns), True
    system, path = file_system(name)
    with source_errors(name):
        system.invalidate_cache(path)
        about = system.info(path)
    marks = (about.get(key) for key in ("ETag", "etag", "mtime", "LastModified", "last_modified", "created"))
    size = about.get("size")
    return (-1 if size is None else int(size)), str(next(filter(None, marks), "")), about.get("partial", True)


@contextmanager
def opened(source: TextSource) -> Iterator[BinaryIO]:
    """The stored bytes of a source; SourceChanged if it has changed since the corpus was opened, or meanwhile."""
    if stamp_of(source.name)[:2] != (source.size, source.stamp):
        raise SourceChanged(source.name)
    with source_errors(source.name), _open(source.name) as stream:
        yield stream
    if stamp_of(source.name)[:2] != (source.size, source.stamp):
        raise SourceChanged(source.name)


def _open(name: str) -> BinaryIO:
    if not is_address(name):
        return Path(name).open("rb", buffering=0)  # pyright: ignore[reportReturnType]
    system, path = file_system(name)
    return system.open(path, "rb", block_size=BLOCK, cache_type="readahead")


def unpacked(stream: BinaryIO, source: TextSource, first: int = 0) -> Iterator[bytes]:
    """The unpacked bytes of an open source; those before `first` are passed over where the source is divisible."""
    with source_errors(source.name):
        if first and source.is_divisible:
            stream.seek(first)
        if source.packing == "gz":
            yield from _unpacked_gzip(stream, source.name)
        elif source.packing == "zst":
            yield from _unpacked_zstd(stream, source.name)
        else:
            yield from iter(lambda: stream.read(BLOCK), b"")


def _unpacked_gzip(stream: BinaryIO, name: str) -> Iterator[bytes]:
    done = 0
    try:
        with gzip.GzipFile(fileobj=stream, mode="rb") as packed:
            while block := packed.read1(BLOCK):  # `read` would drop what comes before the damage
                done += len(block)
                yield block
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DamagedPacking(f"'{name}' cannot be unpacked after {done:,} unpacked bytes: {error}.") from None


def _unpacked_zstd(stream: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise UsageError(f"'{name}' is packed by zstd, which needs a further package: {NEEDS_EXTRA}") from None
    unpack = zstandard.ZstdDecompressor()
    frame, done, is_open = unpack.decompressobj(), 0, False
    try:
        while packed := stream.read(PACKED_BLOCK):
            while packed:
                block = frame.decompress(packed)
                is_open, packed = not frame.eof, frame.unused_data if frame.eof else b""
                frame = unpack.decompressobj() if frame.eof else frame
                done += len(block)
                if block:
                    yield block
    except zstandard.ZstdError as error:
        raise DamagedPacking(f"'{name}' cannot be unpacked after {done:,} unpacked bytes: {error}.") from None
    if is_open:
        raise DamagedPacking(f"'{name}' ends in the middle of its data, after {done:,} unpacked bytes.")


class ByteWindow:
    """The bytes of a source from some offset on. Only what is asked for is kept, so memory does not depend on size."""

    def __init__(self, blocks: Iterator[bytes], offset: int = 0):
        self._blocks, self._held = blocks, bytearray()
        self.offset = offset  # of the first byte that is kept
        self.ended = False
        self.damage: str | None = None  # why a packed source cannot be read any further

    @property
    def end(self) -> int:
        """The offset after the last byte that was read so far."""
        return self.offset + len(self._held)

    def fill(self, upto: int) -> None:
        while not self.ended and self.end < upto:
            try:
                block = next(self._blocks, b"")
            except DamagedPacking as error:
                block, self.damage = b"", str(error)
            self._held += block
            self.ended = not block

    def peek(self, first: int, last: int) -> bytes:
        """The bytes from `first` to before `last`, fewer at the end of the source."""
        self.fill(last)
        return bytes(self._held[max(0, first - self.offset) : max(0, last - self.offset)])

    def find(self, mark: bytes, first: int, last: int) -> int:
        """Where the mark stands between two offsets, -1 if nowhere."""
        self.fill(last)
        place = self._held.find(mark, max(0, first - self.offset), max(0, last - self.offset))
        return place if place < 0 else place + self.offset

    def drop(self, upto: int) -> None:
        """Forget what is before an offset; nothing of it needs to be in memory at once."""
        while not self.ended and self.end < upto:
            self.offset, self._held = self.end, bytearray()
            self.fill(self.offset + 1)
        cut = min(upto - self.offset, len(self._held))
        if cut > 0:
            del self._held[:cut]
            self.offset += cut
