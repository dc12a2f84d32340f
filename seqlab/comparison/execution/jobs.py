"""The pieces of work of a comparison: which there are, who has one in hand, and which are done."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seqlab.comparison.execution.scores import is_scored
from seqlab.runs.directory import RunDirectory
from seqlab.runs.results import read_results
from seqlab.storage import read_bytes, storage_errors, write_atomic

LOCKS = "locks"


@dataclass(frozen=True)
class Job:
    """A run to be trained and, unless it is a trial, scored."""

    place: str  # within the comparison: runs/lstm-0, tuning/lstm-2
    settings: dict[str, Any]
    part: str | None  # on which it is scored; None for a trial
    seconds: float  # that it is expected to take

    def path(self, directory: Path) -> Path:
        return directory / self.place

    def is_done(self, directory: Path) -> bool:
        run = RunDirectory(self.path(directory))
        if self.part is not None:
            return is_scored(run)
        return self.failure(directory) is not None or (run.is_run() and read_results(run) is not None)

    def failed(self, directory: Path, why: str) -> None:
        """A trial that went wrong is an answer too: these settings do not train."""
        write_atomic(self._failed(directory), why.encode())

    def failure(self, directory: Path) -> str | None:
        path = self._failed(directory)
        return read_bytes(path).decode() if path.is_file() else None

    def _failed(self, directory: Path) -> Path:
        return self.path(directory).with_suffix(".failed")


@contextmanager
def claimed(job: Job, directory: Path) -> Iterator[bool]:
    """Whether the job is ours until we leave or die; false where another process has it."""
    folder = directory / LOCKS
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{job.place.replace('/', '-')}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
