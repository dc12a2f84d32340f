"""Atomic writing, and reading that does not trust the file."""

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from seqlab.errors import DataError, MissingInput, StorageError

T = TypeVar("T")
JSON_LIMIT = 1 << 20  # malicious JSON takes some thirty times its size in memory


def write_atomic(path: Path, content: bytes) -> None:
    """Replace a file: after a crash at any moment it holds the old content or the new."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with storage_errors(path, len(content)):
        try:
            write_through(temporary, content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)


def write_atomic_parts(path: Path, parts: Iterable[bytes], size: int) -> str:
    """`write_atomic` of content that is too large for memory, of about `size` bytes; returns its SHA-256."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    digest = hashlib.sha256()
    with storage_errors(path, size):
        try:
            temporary.unlink(missing_ok=True)
            with temporary.open("xb") as stream:
                for part in parts:
                    digest.update(part)
                    stream.write(part)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_directory(path.parent)
    return digest.hexdigest()


def write_through(path: Path, content: bytes) -> None:
    """Write a file and sync it to disk. It replaces an old file, so a symbolic link is not followed."""
    path.unlink(missing_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """Sync a rename to disk, if the system supports it."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refuse_link(folder: Path) -> None:
    """DataError if the folder is a link: what is written or removed there would belong to something else."""
    if folder.is_symlink():
        raise DataError(
            f"'{folder}' is a link to '{folder.readlink()}': seqlab neither writes nor removes files through it. "
            f"Replace the link by a folder of its own, a copy if its files are needed."
        )


@contextmanager
def storage_errors(path: Path, needed: int) -> Iterator[None]:
    """Turn OSError into StorageError; for a full disk, with the bytes needed and available."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(next(folder for folder in path.absolute().parents if folder.is_dir())).free
            raise StorageError(
                f"the disk is full: '{path}' needs {needed:,} bytes, {free:,} are available. "
                f"Everything saved before is intact; free some space and resume."
            ) from None
        raise StorageError(f"'{path}' cannot be written: {error.strerror or error}.") from None


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """The content of a file; DataError if it is not a regular file or larger than `limit`."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device might never end
            raise DataError(f"'{path}' is not a file that seqlab wrote: it is a folder, a pipe or a device.")
        if limit is not None and status.st_size > limit:
            raise DataError(f"'{path}' is {status.st_size:,} bytes long; seqlab writes at most {limit:,}.")
        return path.read_bytes()
    except FileNotFoundError:
        raise MissingInput(f"'{path}' is missing.") from None
    except OSError as error:
        raise StorageError(f"'{path}' cannot be read: {error.strerror}.") from None


def from_json(content: bytes, path: Path) -> dict[str, Any]:
    """Parse the JSON object in a file; DataError for anything else."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        raise DataError(f"'{path}' is damaged: it is not JSON.") from None
    if not isinstance(parsed, dict):
        raise DataError(f"'{path}' is damaged: it does not hold a JSON object.")
    return parsed


def validated(kind: type[T], content: Any, path: Path, strict: bool | None = None) -> T:
    """The content of a file as an instance of `kind`; DataError if it is not what seqlab writes."""
    try:
        return TypeAdapter(kind).validate_python(content, strict=strict)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise DataError(f"'{path}' cannot be used: its '{where}' is not what seqlab writes.") from None


def to_json(content: Any) -> bytes:
    return as_bytes(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def as_bytes(text: str) -> bytes:
    """UTF-8; file names may contain other bytes, which Python represents as lone surrogates."""
    return text.encode("utf-8", "surrogatepass")
