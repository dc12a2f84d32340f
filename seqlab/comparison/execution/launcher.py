"""Where the jobs of a comparison run: the loop that is the same for all launchers. A launcher starts jobs and hears."""

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.process import ENDS, Event
from seqlab.comparison.execution.progress import ProgressView
from seqlab.comparison.execution.shared_progress import SharedProgress
from seqlab.distributed.world import launched
from seqlab.errors import SeqlabError, TrainingFailed
from seqlab.training.signals import Interrupts

DEATHS = 5  # of workers on one job before the launcher gives up
POLL = 0.2  # seconds between two looks at signals
TAKEN = 1.0  # seconds until a job that another process has is tried again


class Stopped(SeqlabError):
    """The comparison was interrupted; its runs have written checkpoints."""

    def __init__(self, directory: Path, number: int):
        super().__init__(f"stopped; everything is saved in '{directory}'. The same command resumes it.")
        self.exit_code = 128 + number


class Launcher(ABC):
    """Runs lists of jobs, one after another; entered and left as a context."""

    def __init__(self, directory: Path, view: ProgressView, threads: int = 1):
        self.directory, self.view, self.threads = directory, view, threads
        self._running: dict[str, Job] = {}
        self._waiting: list[tuple[float, Job]] = []  # not before that time; the first is the next
        self._deaths: Counter[str] = Counter()
        self._errors: list[SeqlabError] = []
        self._stopping = False
        self._shared = SharedProgress(directory, view)

    def places(self, threads: int, device: str) -> int | None:
        """How many jobs with so many threads run at once; None if that is for the request to say."""
        return None

    @abstractmethod
    def has_room(self, running: int) -> bool:
        """Whether another job can start while so many run."""

    @abstractmethod
    def start(self, job: Job) -> None: ...

    @abstractmethod
    def hear(self, seconds: float) -> list[tuple[Job, Event]]:
        """What has happened; waits that long for something. Every job ends with an event of the kinds ENDS."""

    @abstractmethod
    def stop(self) -> None:
        """End all jobs, each with a checkpoint; `hear` then has what they said at last."""

    def after_deaths(self) -> str:
        """What to do when the workers of a job keep dying."""
        return "Repeat the command."

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, jobs: Sequence[Job], what: str) -> None:
        """Run all jobs that are not done yet, the longest first."""
        missing = [job for job in jobs if not job.is_done(self.directory)]
        self._waiting = [(0.0, job) for job in sorted(missing, key=lambda job: -job.seconds)]
        self._errors, self._running, self._stopping = [], {}, False
        self.view.begin(what, missing)
        self._shared.begin()
        with Interrupts() as interrupts:
            try:
                while (self._waiting or self._running) and not (interrupts.received or self._is_lost()):
                    self._start_jobs()
                    self._hear(POLL)
                    if self._shared.is_due():
                        self._share_progress()
                    self.view.refresh()
                if self._running:
                    self._stopping = True
                    self.stop()
                    self._hear(0)
            finally:
                self._shared.end()
                self.view.end()
        if interrupts.received is not None:
            raise Stopped(self.directory, interrupts.received)
        if self._errors:
            raise self._errors[0]

    def _is_lost(self) -> bool:
        """A run that diverges does not stop the others; any other error would hit all of them."""
        return any(not isinstance(error, TrainingFailed) for error in self._errors)

    def _start_jobs(self) -> None:
        now = time.monotonic()
        for entry in [entry for entry in self._waiting if entry[0] <= now]:
            if not self.has_room(len(self._running)):
                return
            job = entry[1]
            self._waiting.remove(entry)
            if job.is_done(self.directory):
                self.view.event(job, {"kind": "done"})  # by another command on the same comparison
            else:
                self._running[job.place] = job
                self.start(job)

    def _share_progress(self) -> None:
        if not launched().is_writer:
            self._shared.write(self._running.values())
            return
        for entry in [entry for entry in self._waiting if entry[1].is_done(self.directory)]:
            self._waiting.remove(entry)
            self.view.event(entry[1], {"kind": "done"})
        self._shared.show(job for _, job in self._waiting)

    def _hear(self, seconds: float) -> None:
        for job, event in self.hear(seconds):
            if job.place not in self._running:
                continue
            kind = event["kind"]
            known = kind == "taken" and self.view.rows[job.place].state != "waiting"  # how far another process is
            if kind != "died" and not known:
                self.view.event(job, event)
            if kind in ENDS:
                del self._running[job.place]
            if kind in ("failed", "stopped"):
                error_class = TrainingFailed if event["code"] == TrainingFailed.exit_code else SeqlabError
                error = error_class(f"{job.place}: {event['message']}")
                error.exit_code = event["code"]
                self._errors.append(error)
            elif kind == "taken":
                self._waiting.append((time.monotonic() + TAKEN, job))
            elif kind == "died" and not self._stopping:
                self._count_death(job, event)

    def _count_death(self, job: Job, event: Event) -> None:
        self._deaths[job.place] += 1
        reason = f" ({event['message']})" if event.get("message") else ""
        if self._deaths[job.place] >= DEATHS:
            error = f"{job.place}: its worker process died {DEATHS} times{reason}. {self.after_deaths()}"
            self._errors.append(SeqlabError(error))
            return
        self.view.event(job, {"kind": "waiting"})
        self.view.alert(
            f"{job.place}: its worker process died{reason}. It continues from its last checkpoint: "
            f"attempt {self._deaths[job.place] + 1} of {DEATHS}."
        )
        self._waiting.append((0.0, job))
