"""A worker process; pool.py starts it.

Jobs arrive as lines of JSON on standard input, events leave as lines of JSON on standard output. The process is
spawned, never forked, and stops with a checkpoint when its parent is gone.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from seqlab.comparison.execution.jobs import Job, claimed
from seqlab.comparison.execution.measuring import measure_context, measure_run
from seqlab.comparison.execution.scores import is_scored, score, write_scores
from seqlab.config import resolve
from seqlab.errors import SeqlabError, TrainingFailed
from seqlab.recipes import Writing
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.directory import RunDirectory
from seqlab.runs.lock import RunLocked
from seqlab.runs.machine import peak_memory
from seqlab.runs.results import read_results
from seqlab.threads import compute_threads
from seqlab.training.progress import EvaluationEvent, Reporter
from seqlab.training.session import resume, train

EVERY = 0.25  # seconds between two step events of a run


class EventReporter(Reporter):
    """Sends events to the parent process."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._last = 0.0

    def send(self, kind: str, **details: Any) -> None:
        try:
            print(json.dumps({"kind": kind, **details}), file=self._stream, flush=True)
        except BrokenPipeError:
            os.kill(os.getpid(), signal.SIGTERM)  # the parent is gone: save and stop

    def begin(self, step: int, steps: int) -> None:
        self.send("begin", step=step, steps=steps)

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self.send("step", step=step, loss=loss, speed=units_per_second)

    def evaluation(self, result: EvaluationEvent) -> None:
        self.send("evaluation", step=result.step, validation=result.validation_loss)

    def log(self, message: str) -> None:
        self.send("log", message=message)


def main(directory: Path) -> None:
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries may print, and that is not an event
    events = EventReporter(stream)
    for line in sys.stdin:
        job = Job(**json.loads(line))
        try:
            with claimed(job, directory) as ours:
                if ours and not job.is_done(directory):
                    run_job(job, directory, events)
            events.send("done" if ours else "taken")
        except RunLocked as held:  # by a `seqlab resume` of this run
            events.log(str(held))
            events.send("taken")
        except SeqlabError as error:
            stopped = error.exit_code > 128  # by a signal
            events.send("stopped" if stopped else "failed", message=str(error), code=error.exit_code)
            if stopped:
                raise SystemExit(error.exit_code) from None


def run_job(job: Job, directory: Path, events: EventReporter) -> None:
    """Train or resume, score once, then measure."""
    path = job.path(directory)
    run = RunDirectory(path)
    reset_peak_memory()
    started = run.is_run()
    finished = started and read_results(run) is not None
    try:
        if not finished and started and checkpoints(path / "checkpoints"):
            resume(path, None, events)
        elif not finished:
            train(resolve(job.settings), path, path.exists(), events)
    except TrainingFailed as error:
        if job.split is not None:
            raise
        job.record_failure(directory, str(error))
    if job.split is not None:
        _score_and_measure(job, run, job.split, events)


def _score_and_measure(job: Job, run: RunDirectory, split: str, events: EventReporter) -> None:
    from seqlab.runs.run import load

    with compute_threads(job.settings["train"]["threads"]):
        if not is_scored(run):
            events.send("scoring")
            write_scores(run, score(load(run.path), split, peak_memory()))
        if job.measures:
            events.send("measuring")
            context = measure_context(run.path, Writing(**job.writing), split)
            measure_run(load(run.path), job.measures, context, events.log)


def reset_peak_memory() -> None:
    """Make `peak_memory` count from here."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
