"""A pool of worker processes that run one job at a time, are replaced if they die, and stop with this process."""

import json
import os
import subprocess
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.progress import ProgressView
from seqlab.errors import SeqlabError, TrainingFailed
from seqlab.processes import python_command
from seqlab.training.signals import Interrupts

DEATHS = 5  # of workers on one job before the pool gives up
POLL = 0.2  # seconds between two checks of the workers
STOP_TIMEOUT = 10.0  # seconds for workers to write a checkpoint


def worker_command(directory: Path) -> list[str]:
    program = "from pathlib import Path; from seqlab.comparison.execution import worker; worker.main(Path(sys.argv[1]))"
    return python_command(program, str(directory))


class Stopped(SeqlabError):
    """The comparison was interrupted; its runs have written checkpoints."""

    def __init__(self, directory: Path, number: int):
        super().__init__(f"stopped; everything is saved in '{directory}'. The same command resumes it.")
        self.exit_code = 128 + number


class Pool:
    """Worker processes, reused from one list of jobs to the next."""

    def __init__(self, directory: Path, workers: int, threads: int, view: ProgressView):
        self.directory, self.workers, self.threads, self.view = directory, workers, threads, view
        self._processes: list[subprocess.Popen[str] | None] = [None] * workers
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._deaths: Counter[str] = Counter()
        self._errors: list[SeqlabError] = []
        self._stopping = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, jobs: Sequence[Job], what: str) -> None:
        """Run all jobs that are not done yet, the longest first."""
        missing = [job for job in jobs if not job.is_done(self.directory)]
        self._waiting = deque(sorted(missing, key=lambda job: -job.seconds))
        self._errors, self._stopping = [], False
        self.view.begin(what, missing)
        workers = range(min(self.workers, len(missing)))
        feeders = [threading.Thread(target=self._feed, args=(index,)) for index in workers]
        with Interrupts() as interrupts:
            for feeder in feeders:
                feeder.start()
            while any(feeder.is_alive() for feeder in feeders):
                time.sleep(POLL)
                self.view.refresh()
                # a run that diverges does not stop the others; any other error would hit all of them
                fatal = any(not isinstance(error, TrainingFailed) for error in self._errors)
                if interrupts.received is not None or (fatal and not self._stopping):
                    self._stop()
        self.view.end()
        if interrupts.received is not None:
            raise Stopped(self.directory, interrupts.received)
        if self._errors:
            raise self._errors[0]

    def _feed(self, index: int) -> None:
        """Give jobs to one worker until none is left."""
        while (job := self._next()) is not None:
            outcome = self._run_on(index, job)
            if self._stopping:
                return
            if outcome in ("taken", "died"):
                self._put_back(job, outcome)

    def _next(self) -> Job | None:
        with self._lock:
            while self._waiting and not self._stopping:
                job = self._waiting.popleft()
                if not job.is_done(self.directory):
                    return job
                self.view.event(job, {"kind": "done"})  # by another command on the same comparison
        return None

    def _run_on(self, index: int, job: Job) -> str:
        """The outcome: done, taken by another process, failed, stopped by a signal, or died."""
        process = self._worker(index)
        assert process.stdin is not None and process.stdout is not None
        try:
            print(json.dumps(vars(job)), file=process.stdin, flush=True)
            for line in process.stdout:
                event: dict[str, Any] = json.loads(line)
                self.view.event(job, event)
                if event["kind"] in ("failed", "stopped"):
                    error_class = TrainingFailed if event["code"] == TrainingFailed.exit_code else SeqlabError
                    error = error_class(f"{job.place}: {event['message']}")
                    error.exit_code = event["code"]
                    self._errors.append(error)
                if event["kind"] in ("done", "taken", "failed", "stopped"):
                    return event["kind"]
        except (BrokenPipeError, ValueError):
            pass  # the worker died
        _close(process)
        return "died"

    def _put_back(self, job: Job, outcome: str) -> None:
        if outcome == "taken":
            time.sleep(1.0)
        with self._lock:
            self._deaths[job.place] += outcome == "died"
            if self._deaths[job.place] >= DEATHS:
                log = self._log(0).with_name("worker-*.log")
                self._errors.append(
                    SeqlabError(
                        f"{job.place}: its worker process died {DEATHS} times. Is the machine out of memory? "
                        f"See '{log}', then repeat the command, perhaps with fewer --jobs."
                    )
                )
            else:
                self._waiting.append(job)

    def _worker(self, index: int) -> subprocess.Popen[str]:
        process = self._processes[index]
        if process is None or process.poll() is not None:
            log = self._log(index)
            log.parent.mkdir(parents=True, exist_ok=True)
            threads = {name: str(self.threads) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
            with log.open("a", encoding="utf-8") as stream:
                process = self._processes[index] = subprocess.Popen(
                    worker_command(self.directory),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stream,
                    text=True,
                    encoding="utf-8",
                    env={**os.environ, **threads},
                )
        return process

    def _log(self, index: int) -> Path:
        return self.directory / "logs" / f"worker-{index}.log"

    def _stop(self) -> None:
        """Ask every worker to write a checkpoint and exit."""
        self._stopping = True
        running = [process for process in self._processes if process is not None and process.poll() is None]
        for process in running:
            process.terminate()
        until = time.monotonic() + STOP_TIMEOUT
        for process in running:
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for process in running:
            _close(process)


def _close(process: subprocess.Popen[str]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # the worker is gone
            if pipe is not None:
                pipe.close()
