"""Comparisons whose jobs run in this process: for tests of what a comparison says, not of how its workers live."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.execution.worker import EventReporter, run_job


class InProcessPool(Pool):
    """The same jobs and events without processes, which take seconds to start."""

    def run(self, jobs: Sequence[Job], what: str) -> None:
        missing = [job for job in jobs if not job.is_done(self.directory)]
        self.view.begin(what, missing)
        for job in missing:
            events = _Events(self, job)
            run_job(job, self.directory, events)
            events.send("done")
        self.view.end()


class _Events(EventReporter):
    def __init__(self, pool: InProcessPool, job: Job):
        self._pool, self._job, self._last = pool, job, 0.0

    def send(self, kind: str, **details: Any) -> None:
        self._pool.view.event(self._job, json.loads(json.dumps({"kind": kind, **details})))


@contextmanager
def in_process_workers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("compare", "execution.launchers"):
            patch.setattr(f"seqlab.comparison.{module}.Pool", InProcessPool)
        patch.setattr("seqlab.training.timing.ENOUGH_SECONDS", 0.0)  # time a step in the fewest rounds
        yield
