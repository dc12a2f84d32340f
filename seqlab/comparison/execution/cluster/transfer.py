"""Files that travel where nodes do not share the folder of the comparison: what jobs read, and what they wrote."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from seqlab.comparison.execution.jobs import Job, claimed
from seqlab.comparison.execution.process import Event
from seqlab.errors import DataError, UsageError
from seqlab.registry import CORPORA
from seqlab.storage import read_bytes, storage_errors, write_atomic

MAX_SENT = 1 << 29  # bytes of the texts that are sent to nodes
UPLOADS = "uploads"


def named_paths(settings: Mapping[str, Any]) -> list[str]:
    """The files and folders that a run with these settings reads."""
    corpus = settings["corpus"]
    named = [name for key in ("source", "validation", "test") for name in corpus.get(key) or ()]
    teacher = settings["task"].get("teacher")
    return [name for name in [*named, *([teacher] if teacher else [])] if name not in CORPORA]


def read_inputs(jobs: Iterable[Job], nodes: str) -> dict[str, bytes]:
    """The content of all files that jobs read, by their relative paths; `nodes` names who needs them."""
    files: dict[str, bytes] = {}
    total = 0
    for name in dict.fromkeys(name for job in jobs for name in named_paths(job.settings)):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise UsageError(
                f"{nodes} cannot read '{name}', and only files below the working directory are sent: call the command "
                f"in a folder above the text and give a relative path, or share the folders with the nodes."
            )
        for path in _files(Path(name)):
            total += path.stat().st_size
            if total > MAX_SENT:
                raise UsageError(
                    f"{nodes} cannot read '{name}', and at most {MAX_SENT:,} bytes are sent: share the folder with the "
                    f"nodes, under the same path."
                )
            files[path.as_posix()] = read_bytes(path)
    return files


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())


class Upload:
    """The files of one job as they arrive; nothing is in its place before all of them are."""

    def __init__(self, job: Job, directory: Path):
        self._job, self._directory = job, directory
        self._folder = directory / UPLOADS / job.place.replace("/", "-")
        self._name, self._missing, self._parts = "", 0, list[bytes]()
        shutil.rmtree(self._folder, ignore_errors=True)

    def announce(self, event: Event) -> None:
        """A file comes next."""
        name, size = event["name"], event["size"]
        parts, own = PurePosixPath(name).parts, PurePosixPath(self._job.place).parts
        inside = parts[: len(own)] == own and len(parts) > len(own)
        failure = name == PurePosixPath(self._job.place).with_suffix(".failed").as_posix()
        if not (inside or failure) or ".." in parts:
            raise DataError(f"{self._job.place}: a node sent a file named '{name}', which is not part of that run.")
        self._name, self._missing, self._parts = name, size, []
        if size == 0:
            self._write()

    def add(self, part: bytes) -> None:
        """The next part of that file."""
        self._missing -= len(part)
        self._parts.append(part)
        if self._missing < 0 or not self._name:
            raise DataError(f"{self._job.place}: a node sent more than it announced for '{self._name}'.")
        if self._missing == 0:
            self._write()

    def _write(self) -> None:
        path = self._folder / self._name
        with storage_errors(path, 0):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, b"".join(self._parts))
        self._name, self._parts = "", []

    def finish(self) -> None:
        """Put the files in their place, unless another command has done the job meanwhile."""
        with claimed(self._job, self._directory) as ours:
            if ours and not self._job.is_done(self._directory):
                self._put_in_place()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _put_in_place(self) -> None:
        run, arrived = self._job.path(self._directory), self._folder / self._job.place
        failure, failed = run.with_suffix(".failed"), arrived.with_suffix(".failed")
        with storage_errors(run, 0):
            run.parent.mkdir(parents=True, exist_ok=True)
            if run.exists() and arrived.exists():  # it was begun here
                run.rename(self._folder / "begun")
            if arrived.exists():
                arrived.rename(run)
            if failed.exists():
                failed.rename(failure)
