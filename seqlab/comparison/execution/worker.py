"""A process that does one job after another: `python -m seqlab.comparison.execution.worker DIRECTORY`.

Jobs come as lines of JSON on standard input, news of them go as lines of JSON to standard output. It is started
afresh, never forked, and stops with a checkpoint when whoever started it is gone.
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
from seqlab.comparison.execution.scores import is_scored, score, write_scored
from seqlab.config import resolve
from seqlab.errors import SeqlabError, TrainingFailed
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.directory import RunDirectory
from seqlab.runs.results import read_results
from seqlab.threads import compute_threads
from seqlab.training.progress import EvaluationEvent
from seqlab.training.session import resume, train

EVERY = 0.25  # seconds between two news of a run


class News:
    """A reporter that tells the parent process."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._last = 0.0

    def tell(self, **news: Any) -> None:
        try:
            print(json.dumps(news), file=self._stream, flush=True)
        except BrokenPipeError:
            os.kill(os.getpid(), signal.SIGTERM)  # nobody listens any more: save and stop

    def begin(self, step: int, steps: int) -> None:
        self.tell(what="begin", step=step, steps=steps)

    def step(self, step: int, loss: float, tokens_per_second: float) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            self.tell(what="step", step=step, loss=loss, speed=tokens_per_second)

    def evaluation(self, result: EvaluationEvent) -> None:
        self.tell(what="evaluation", step=result.step, validation=result.validation_loss)

    def log(self, message: str) -> None:
        self.tell(what="say", message=message)

    def end(self) -> None: ...


def main(directory: Path) -> None:
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is not taken for news
    news = News(stream)
    for line in sys.stdin:
        content = json.loads(line)
        job = Job(**content)
        try:
            with claimed(job, directory) as ours:
                if ours and not job.is_done(directory):
                    do(job, directory, news)
            news.tell(what="done" if ours else "taken")
        except SeqlabError as error:
            news.tell(what="failed", message=str(error), code=error.exit_code)
            if error.exit_code > 128:
                raise SystemExit(error.exit_code) from None


def do(job: Job, directory: Path, news: News) -> None:
    """Train, or go on; then score once."""
    path = job.path(directory)
    run = RunDirectory(path)
    reset_peak()
    finished = run.is_run() and read_results(run) is not None
    try:
        if not finished:
            _train(job, path, news)
    except TrainingFailed as error:
        if job.part is not None:
            raise
        job.failed(directory, str(error))
    if job.part is not None and not is_scored(run):
        from seqlab.runs.run import load

        news.tell(what="scoring")
        with compute_threads(job.settings["train"]["threads"]):
            write_scored(run, score(load(path), job.part, peak_memory()))


def _train(job: Job, path: Path, news: News) -> None:
    if RunDirectory(path).is_run() and checkpoints(path / "checkpoints"):
        resume(path, None, news)
    else:
        train(resolve(job.settings), path, path.exists(), news)


def reset_peak() -> None:
    """From here on the peak of resident memory is that of this job."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int | None:
    """Bytes; None where the system does not tell."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    return None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
