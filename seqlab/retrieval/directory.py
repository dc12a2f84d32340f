"""The index directory: generations of files, of which the manifest names the current one with all hashes.

A new generation is written beside the old one. It counts from the moment when the manifest is replaced, so a reader
finds the old index or the new one, whenever the writer is stopped.
"""

import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from filelock import FileLock, Timeout
from pydantic import BaseModel, Field

from seqlab.errors import DataError, MissingInput, SeqlabError, UsageError
from seqlab.runs import manifest
from seqlab.runs.lock import LOCK
from seqlab.storage import read_bytes, refuse_link, sha256, storage_errors, validated, write_atomic

FORMAT, VERSION = "seqlab-index", 1
BUILDING = ".building"  # what a stopped call had finished; hidden, so that it is never read as documents
GENERATION = re.compile(r"(data|model)-[0-9a-f]+")
DOCUMENTS, LINES, PASSAGES, DIGESTS = "documents.jsonl", "lines.npy", "passages.npy", "digests.npy"
VECTORS, FITTED, BM25 = "vectors.npy", "fitted.npz", "bm25.npz"
REBUILD = "Build the index again with the command that made it."


class IndexFacts(BaseModel):
    """What the manifest says about an index."""

    data: str = Field(pattern="^data-[0-9a-f]+$")  # folders of the current generation
    model: str | None = Field(pattern="^model-[0-9a-f]+$")
    run: str | None
    sources: list[str]
    columns: dict[str, str]
    settings: dict[str, Any]
    length: int
    documents: int
    passages: int
    dimensions: int | None
    fingerprint: str | None
    weight: float | None = Field(default=None, ge=0, le=1)  # of the vectors in a hybrid, if one is kept


@dataclass(frozen=True)
class IndexDirectory:
    path: Path

    @property
    def building(self) -> Path:
        return self.path / BUILDING

    def is_index(self) -> bool:
        """Whether seqlab wrote an index here, even if it is damaged or not finished."""
        if not self.path.is_dir():
            return False
        try:
            return manifest.read_manifest(self.path)[1].get("format") == FORMAT
        except MissingInput:
            return self.building.is_dir()
        except SeqlabError:
            if f'"{FORMAT}"'.encode() in read_bytes(self.path / manifest.NAME):
                return True
            folders = [item for item in self.path.iterdir() if GENERATION.fullmatch(item.name)]
            return any((folder / DOCUMENTS).is_file() and (folder / DIGESTS).is_file() for folder in folders)

    def facts(self) -> dict[str, Any]:
        """What the manifest says about the index; raises if this is none, or one of a newer version."""
        if not self.path.is_dir():
            raise MissingInput(f"there is no index '{self.path}'. Make one: seqlab index DOCUMENTS --out {self.path}")
        if not (self.path / manifest.NAME).is_file():
            unfinished = self.building.is_dir()
            why = "was not finished: run the command that began it again" if unfinished else "is not an index"
            raise MissingInput(f"'{self.path}' {why}.")
        try:
            facts = manifest.read_manifest(self.path)[1]
        except DataError as error:
            if self.is_index():
                raise DataError(f"{error} {REBUILD}") from None
            raise
        if facts.get("format") != FORMAT or not isinstance(facts.get("version"), int):
            raise DataError(f"'{self.path}' is not an index: seqlab search needs what seqlab index wrote.")
        if facts["version"] > VERSION:
            raise DataError(
                f"'{self.path}' was written by a newer seqlab (layout {facts['version']}; this one knows {VERSION}). "
                f"Upgrade seqlab to use it."
            )
        validated(IndexFacts, facts, self.path / manifest.NAME, strict=True)
        return facts

    def data(self, name: str) -> bytes:
        """A file of the current generation; DataError or MissingInput if it is damaged or gone."""
        try:
            return manifest.read_verified(self.path, f"{manifest.read_manifest(self.path)[1]['data']}/{name}")
        except (DataError, MissingInput) as error:
            raise type(error)(f"{error} {REBUILD}") from None

    def verify_model(self) -> Path:
        """The copy of the run that made the vectors; DataError if a file of it is damaged."""
        files, facts = manifest.read_manifest(self.path)
        folder = facts["model"]
        for name in files:
            if name.startswith(f"{folder}/"):
                manifest.read_verified(self.path, name)
        return self.path / folder

    def keep_weight(self, weight: float) -> None:
        """Keep the weight of the vectors in a hybrid; everything else stays as it is."""
        with locked_index(self.path):
            facts = self.facts()
            files, _ = manifest.read_manifest(self.path)
            write_atomic(self.path / manifest.NAME, manifest.manifest(files, {**facts, "weight": weight}))

    def commit(self, hashes: Mapping[str, str], facts: Mapping[str, Any]) -> None:
        """Make a generation the current one, then remove what is no longer needed."""
        files = {name: [digest] for name, digest in hashes.items()}
        content = manifest.manifest(files, {"format": FORMAT, "version": VERSION, **facts})
        write_atomic(self.path / manifest.NAME, content)
        kept = {facts["data"], facts.get("model")}
        with storage_errors(self.path, 0):
            for item in self.path.iterdir():
                if item.name == BUILDING or (GENERATION.fullmatch(item.name) and item.name not in kept):
                    refuse_link(item)
                    shutil.rmtree(item)


@contextmanager
def locked_index(path: Path) -> Iterator[IndexDirectory]:
    """An index directory, new or old, that no other process writes to; UsageError if it is something else."""
    directory = IndexDirectory(path)
    refuse_link(path)
    with storage_errors(path, 0):
        if path.exists() and not path.is_dir():
            raise UsageError(f"'{path}' is a file: name a folder for the index.")
        occupied = path.is_dir() and any(item.name != LOCK for item in path.iterdir())
    if occupied and not directory.is_index():
        raise UsageError(f"'{path}' is not empty and not an index: choose another --out.")
    with locked_folder(path):
        yield directory


@contextmanager
def locked_folder(path: Path) -> Iterator[None]:
    """Make a folder and hold its lock. Whoever stops the work with Ctrl-C is told that it can go on."""
    new = not path.exists()
    with storage_errors(path, 0):
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise UsageError(f"'{path}' is in use: another process writes to it. Wait until it has finished.") from None
    try:
        yield
    except KeyboardInterrupt:
        raise WorkStopped(f"stopped; what is finished is kept in '{path}'. The same command goes on with it.") from None
    finally:
        _remove_empty(path, new)  # while no other process can hold the lock
        lock.release()


def _remove_empty(path: Path, new: bool) -> None:
    """A call that failed before it wrote anything leaves nothing behind; a folder that was there stays."""
    with suppress(OSError):  # what went wrong before matters more
        if [item.name for item in path.iterdir()] == [LOCK]:
            (path / LOCK).unlink()
            if new:
                path.rmdir()


class WorkStopped(SeqlabError):
    """Ctrl-C."""

    exit_code = 130


def read_array(content: bytes, path: Path) -> np.ndarray:
    """The array of an .npy file; DataError if it is none."""
    try:
        array = np.load(BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError):
        array = None
    if not isinstance(array, np.ndarray):
        raise DataError(f"'{path}' cannot be used: it is not an array that seqlab writes.")
    return array


def read_arrays(content: bytes, path: Path, names: Collection[str]) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, which has to have these names."""
    try:
        with np.load(BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, EOFError, OSError, BadZipFile, AttributeError):
        arrays = {}
    if not arrays.keys() >= {*names}:
        raise DataError(f"'{path}' cannot be used: it does not hold the arrays {', '.join(names)}.")
    return arrays


def npy_bytes(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    stream = BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def write_file(folder: Path, name: str, content: bytes) -> str:
    """Write a file of a new generation; returns its SHA-256."""
    write_atomic(folder / name, content)
    return sha256(content)
