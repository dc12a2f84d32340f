"""The jobs of a comparison: trials and runs, claimed by one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seqlab.comparison.execution.measuring import is_measured
from seqlab.comparison.execution.scores import is_scored
from seqlab.runs.directory import RunDirectory
from seqlab.runs.results import read_results
from seqlab.storage import read_bytes, storage_errors, write_atomic

LOCKS, LOGS = "locks", "logs"


@dataclass(frozen=True)
class Job:
    """Train a run; unless it is a trial, score and measure it."""

    place: str  # within the comparison: runs/lstm-0, tuning/lstm-2
    settings: dict[str, Any]
    split: str | None  # to score it on; None for a trial
    seconds: float  # expected
    measures: list[str] = field(default_factory=list)
    writing: dict[str, Any] = field(default_factory=dict)  # how measures sample: prompt, temperatures

    def path(self, directory: Path) -> Path:
        return directory / self.place

    def is_done(self, directory: Path) -> bool:
        run = RunDirectory(self.path(directory))
        if self.split is not None:
            return is_scored(run) and all(is_measured(run.path, name) for name in self.measures)
        return self.failure(directory) is not None or (run.is_run() and read_results(run) is not None)

    def record_failure(self, directory: Path, reason: str) -> None:
        """A failed trial is a result too: training diverges with these settings."""
        write_atomic(self._failure_file(directory), reason.encode())

    def failure(self, directory: Path) -> str | None:
        path = self._failure_file(directory)
        return read_bytes(path).decode() if path.is_file() else None

    def _failure_file(self, directory: Path) -> Path:
        return self.path(directory).with_suffix(".failed")


@contextmanager
def claimed(job: Job, directory: Path) -> Iterator[bool]:
    """Yields whether this process claimed the job, or another process has it."""
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
