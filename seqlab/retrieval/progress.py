"""How far a long job is: a bar in a terminal, a line every few seconds in a log."""

import sys
import time

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from seqlab.printable import printable
from seqlab.terminal import SafeConsole
from seqlab.training.progress import LogReporter, ProgressBarReporter, Reporter, clock


class WorkProgress:
    """Receives the progress of a job, and ignores it; subclasses show it."""

    def begin(self, what: str, total: int, unit: str) -> None: ...
    def advance(self, done: int) -> None: ...
    def end(self) -> None: ...
    def log(self, message: str) -> None: ...

    def reporter(self) -> Reporter:
        """What receives the progress of training."""
        return Reporter()


class LogProgress(WorkProgress):
    """For logs."""

    EVERY = 10.0  # seconds

    def __init__(self) -> None:
        self._what, self._unit, self._total, self._done = "", "", 0, 0
        self._began = self._last = 0.0

    def begin(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit, self._done = what, total, unit, 0
        self._began = self._last = time.monotonic()

    def advance(self, done: int) -> None:
        self._done += done
        now = time.monotonic()
        if now - self._last >= self.EVERY and self._done:
            self._last = now
            rate = self._done / (now - self._began)
            left = clock((self._total - self._done) / rate)
            self.log(
                f"{self._what}: {self._done:,} of {self._total:,} {self._unit}  {rate:,.0f} {self._unit}/s  {left} left"
            )

    def log(self, message: str) -> None:
        print(printable(message), file=sys.stderr, flush=True)  # noqa: T201

    def reporter(self) -> Reporter:
        return LogReporter()


class BarProgress(WorkProgress):
    """For terminals."""

    def __init__(self) -> None:
        self._console = SafeConsole(stderr=True)
        self._bar: Progress | None = None

    def begin(self, what: str, total: int, unit: str) -> None:
        self.end()
        self._bar = Progress(
            TextColumn(f"[bold]{escape(what)}[/] {{task.completed:,}}/{{task.total:,}} {unit}"),
            BarColumn(bar_width=None),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._bar.add_task(what, total=total)
        self._bar.start()

    def advance(self, done: int) -> None:
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0], done)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def log(self, message: str) -> None:
        self._console.print(escape(message))

    def reporter(self) -> Reporter:
        return ProgressBarReporter()


def progress_for_stderr() -> WorkProgress:
    return BarProgress() if sys.stderr.isatty() else LogProgress()
