"""The cache directory: encoded texts, downloaded corpora, compiled kernels. Everything in it can be rebuilt."""

import hashlib
import json
import os
import stat
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from seqlab.errors import DataError, SeqlabError, SeqlabWarning, StorageError
from seqlab.storage import from_json, read_bytes, sha256, write_atomic

VERIFIED = "verified.json"
CLOCK = 3.0  # seconds: times of files are as coarse as two on some file systems
_warned: set[Path] = set()


def cache_directory(*parts: str) -> Path:
    """A folder in SEQLAB_CACHE or in the user's cache directory, created with access for the user only."""
    given = os.environ.get("SEQLAB_CACHE")
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqlab"
    base = Path(given) if given else own
    if given and not is_private(base, *parts):
        _warn(base, own)
        base = own
    directory = base.joinpath(*parts)
    if not is_private(base, *parts):
        raise StorageError(
            f"the cache '{directory}' belongs to somebody else or anybody may write to it, and what it holds is run. "
            f"Set SEQLAB_CACHE to a folder of your own."
        )
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(
            f"the cache '{directory}' cannot be created: {error.strerror}. Set SEQLAB_CACHE to a folder of your own."
        ) from None
    return directory


def seal(content: Any) -> bytes:
    """Content for the cache with its own SHA-256, which `read_sealed` checks."""
    return json.dumps({"sha256": _seal(content), "content": content}).encode()


def write_sealed(path: Path, content: Any) -> None:
    write_atomic(path, seal(content))


def read_sealed(path: Path) -> Any:
    """What was sealed in this file; DataError if it has been damaged since."""
    sealed = from_json(read_bytes(path), path)
    if sealed.keys() != {"sha256", "content"} or sealed["sha256"] != _seal(sealed["content"]):
        raise DataError(f"'{path}' is damaged: its content does not have its SHA-256.")
    return sealed["content"]


def _seal(content: Any) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode())


def warn_of_damage(error: SeqlabError) -> None:
    """Say that a part of the cache is damaged; whoever calls this makes it anew."""
    warnings.warn(f"the cache is damaged and made anew: {error}", SeqlabWarning, stacklevel=3)


def is_private(base: Path, *parts: str) -> bool:
    """Whether the folders belong to this user, and not everybody may write to them; missing folders will."""
    if not hasattr(os, "geteuid"):
        return True
    for folder in (base.joinpath(*parts[:count]) for count in range(len(parts) + 1)):
        try:
            status = folder.stat()
        except OSError:
            continue  # it does not exist, or creating it says why not
        if status.st_uid != os.geteuid() or status.st_mode & stat.S_IWOTH:
            return False
    return True


def _warn(given: Path, own: Path) -> None:
    if given not in _warned:
        _warned.add(given)
        warnings.warn(
            f"SEQLAB_CACHE '{given}' is not used: it belongs to somebody else, or anybody may write to it, and "
            f"compiled kernels in it would be run. The cache is '{own}'.",
            SeqlabWarning,
            stacklevel=3,
        )


class VerifiedFiles:
    """Files of one folder whose content was seen to have its SHA-256, by their size and times as they were then.

    A file is read again if one of these changed, so opening gigabytes takes no time. A file that is younger than the
    resolution of a file system's clock could change unseen, so it is not kept.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._kept = self._read()
        self._seen = dict(self._kept)

    def check(self, name: str, digest: str) -> None:
        """DataError if the file does not have this SHA-256."""
        path = self.folder / name
        try:
            status = path.stat()
        except OSError as error:
            raise DataError(f"'{path}' cannot be read: {error.strerror}.") from None
        mark = [digest, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
        if self._kept.get(name) == mark:
            return
        began = time.time()
        if cached_digest(path) != digest:
            raise DataError(f"'{path}' does not have its SHA-256.")
        if max(status.st_mtime, status.st_ctime) < began - CLOCK:
            self._seen[name] = mark

    def keep(self) -> None:
        """Write down what was verified. A cache that cannot be written is read in full each time."""
        if self._seen != self._kept:
            with suppress(StorageError):
                write_sealed(self.folder / VERIFIED, self._seen)

    def _read(self) -> dict[str, list[Any]]:
        path = self.folder / VERIFIED
        try:
            return read_sealed(path) if path.is_file() else {}
        except SeqlabError:
            return {}


def cached_digest(path: Path) -> str:
    """The SHA-256 of a large file, read in blocks."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"'{path}' cannot be read: {error.strerror}.") from None
