"""Files that are there whole or not at all, and reading that distrusts what it reads."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seqlab.errors import DataError, MissingInput, StorageError

JSON_LIMIT = 16 << 20


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file: after a crash at any moment it holds the old content or the new."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with storage_errors(path, len(content)):
        try:
            write_through(temporary, content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)


def write_through(path: Path, content: bytes) -> None:
    """Write a file and see it to the disk."""
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """See a rename to the disk, where the system lets a directory be opened for that."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def storage_errors(path: Path, needed: int) -> Iterator[None]:
    """Turn what the system says into words, with the bytes needed and available where the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(path.parent).free
            raise StorageError(
                f"no room to write '{path}': {needed:,} bytes needed, {free:,} available. "
                f"What was saved before is intact; make room and resume."
            ) from None
        raise StorageError(f"'{path}' cannot be written: {error.strerror}.") from None


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """A file's content; MissingInput, StorageError or, beyond `limit`, DataError."""
    try:
        if limit is not None and path.stat().st_size > limit:
            raise DataError(f"'{path}' is {path.stat().st_size:,} bytes long; seqlab writes at most {limit:,}.")
        return path.read_bytes()
    except FileNotFoundError:
        raise MissingInput(f"'{path}' is missing.") from None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror}.") from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object, however hostile the file."""
    try:
        content = json.loads(read_bytes(path, JSON_LIMIT))
    except (ValueError, RecursionError):
        raise DataError(f"'{path}' is damaged: it is not JSON.") from None
    if not isinstance(content, dict):
        raise DataError(f"'{path}' is damaged: it does not hold a JSON object.")
    return content


def to_json(content: Any) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
