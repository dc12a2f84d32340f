"""Of several processes that share the jobs of a comparison, one shows how far all are: the others write it down."""

import json
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from seqlab.comparison.execution.jobs import LOGS, Job
from seqlab.comparison.execution.progress import ProgressView
from seqlab.distributed.world import launched
from seqlab.errors import StorageError
from seqlab.storage import write_atomic

EVERY = 1.0  # seconds between two looks


class SharedProgress:
    """Files in the folder of the comparison, one for each process that does not print."""

    def __init__(self, directory: Path, view: ProgressView):
        self.folder, self.view = directory / LOGS, view
        self._last = 0.0

    def begin(self) -> None:
        if launched().size > 1 and launched().is_writer:  # those of a command that was killed
            self.end(range(1, launched().size))

    def is_due(self) -> bool:
        """Whether it is time to look again; never where one process does everything."""
        now = time.monotonic()
        if launched().size == 1 or now - self._last < EVERY:
            return False
        self._last = now
        return True

    def write(self, running: Iterable[Job]) -> None:
        rows = [self.view.rows[job.place] for job in running]
        said = {
            row.job.place: {"kind": "step", "step": row.step, "steps": row.steps, "loss": row.loss}
            for row in rows
            if row.state not in ("waiting", "taken")
        }
        with suppress(OSError, StorageError):  # it is only shown
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomic(self._file(launched().rank), json.dumps(said).encode())

    def show(self, waiting: Iterable[Job]) -> None:
        """Show how far the others are with jobs that wait here."""
        said = {}
        for rank in range(1, launched().size):
            with suppress(OSError, ValueError):  # it has not begun, or has ended
                said |= json.loads(self._file(rank).read_bytes())
        for job in waiting:
            if job.place in said:
                self.view.event(job, said[job.place])

    def end(self, ranks: Iterable[int] | None = None) -> None:
        for rank in [launched().rank] if ranks is None else ranks:
            with suppress(OSError):
                self._file(rank).unlink(missing_ok=True)

    def _file(self, rank: int) -> Path:
        return self.folder / f"progress-{rank}.json"
