"""The local launcher: worker processes on this machine that are replaced if they die, and stop with this process."""

import json
import queue
import time
from functools import partial
from pathlib import Path

from seqlab.comparison.execution.jobs import LOGS, Job
from seqlab.comparison.execution.launcher import Launcher
from seqlab.comparison.execution.process import (
    ENDS,
    STOP_TIMEOUT,
    Event,
    WorkerProcess,
    next_events,
    worker_command,
)
from seqlab.comparison.execution.progress import ProgressView
from seqlab.distributed.world import launched


class Pool(Launcher):
    """Worker processes, reused from one list of jobs to the next."""

    def __init__(self, directory: Path, workers: int, threads: int, view: ProgressView):
        super().__init__(directory, view, threads)
        self.workers = workers
        self._processes: list[WorkerProcess | None] = [None] * workers
        self._jobs: dict[int, Job] = {}  # by the index of the worker
        self._replaced = [0] * workers  # how often
        self._heard: queue.SimpleQueue[tuple[int, int, Event]] = queue.SimpleQueue()

    def has_room(self, running: int) -> bool:
        return running < self.workers

    def start(self, job: Job) -> None:
        index = next(index for index in range(self.workers) if index not in self._jobs)
        self._jobs[index] = job
        self._worker(index).send(json.dumps(vars(job)))

    def hear(self, seconds: float) -> list[tuple[Job, Event]]:
        heard: list[tuple[Job, Event]] = []
        for index, replaced, event in next_events(self._heard, seconds):
            if replaced != self._replaced[index] or index not in self._jobs:
                continue  # of a worker that was replaced, or had nothing to do
            heard.append((self._jobs[index], event))
            if event["kind"] in ENDS:
                del self._jobs[index]
        return heard

    def after_deaths(self) -> str:
        log = self._log(0).with_name("worker-*.log")
        return f"Is the machine out of memory? See '{log}', then repeat the command, perhaps with fewer --jobs."

    def _worker(self, index: int) -> WorkerProcess:
        process = self._processes[index]
        if process is None or not process.alive:
            if process is not None:
                process.close(time.monotonic())
            self._replaced[index] += 1
            process = self._processes[index] = WorkerProcess(
                worker_command(self.directory),
                self._log(index),
                self.threads,
                partial(self._put, index, self._replaced[index]),
            )
        return process

    def _put(self, index: int, replaced: int, event: Event) -> None:
        self._heard.put((index, replaced, event))

    def _log(self, index: int) -> Path:
        rank = launched().rank
        return self.directory / LOGS / f"worker-{f'{rank}-' if rank else ''}{index}.log"

    def stop(self) -> None:
        running = [process for process in self._processes if process is not None]
        for process in running:
            process.terminate()
        until = time.monotonic() + STOP_TIMEOUT
        for process in running:
            process.close(until)
