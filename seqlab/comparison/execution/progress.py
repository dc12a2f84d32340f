"""The progress of all jobs: a live table in a terminal, plain lines in a log."""

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from seqlab.comparison.execution.jobs import Job
from seqlab.training.progress import clock

MOST_ROWS = 24  # running jobs first


@dataclass
class JobProgress:
    """The progress of one job."""

    job: Job
    state: str = "waiting"
    first: int = 0  # the step at which this process took it up
    step: int = 0
    steps: int = 0
    loss: float | None = None
    validation: float | None = None

    @property
    def share(self) -> float:
        return 1.0 if self.state == "done" else self.step / self.steps if self.steps else 0.0


class ProgressBoard:
    """The state of all jobs, from their events."""

    def __init__(self) -> None:
        self.rows: dict[str, JobProgress] = {}
        self.what = ""
        self.began = 0.0
        self._lock = threading.Lock()

    def begin(self, what: str, jobs: Sequence[Job]) -> None:
        self.what, self.began = what, time.monotonic()
        self.rows = {job.place: JobProgress(job, steps=job.settings["train"]["steps"]) for job in jobs}

    def take(self, job: Job, event: Mapping[str, Any]) -> JobProgress:
        with self._lock:
            row = self.rows[job.place]
            if event["kind"] != "log":
                row.state = "training" if event["kind"] in ("begin", "step", "evaluation") else str(event["kind"])
            row.first = event["step"] if event["kind"] == "begin" else row.first
            row.step, row.steps = event.get("step", row.step), event.get("steps", row.steps)
            row.loss = event.get("loss", row.loss)
            row.validation = event.get("validation", row.validation)
            return row

    @property
    def share(self) -> float:
        """The share of all work that is done."""
        return self._weighted(lambda row: row.share)

    def _weighted(self, share: Callable[[JobProgress], float]) -> float:
        total = sum(row.job.seconds for row in self.rows.values())
        return sum(row.job.seconds * share(row) for row in self.rows.values()) / total if total else 1.0

    @property
    def done(self) -> int:
        return sum(row.state == "done" for row in self.rows.values())

    @property
    def left(self) -> str:
        """The estimated remaining time."""
        share = self.share
        before = self._weighted(lambda row: row.first / row.steps if row.steps else 0.0)  # in an earlier session
        now = share - before
        return clock((time.monotonic() - self.began) * (1 - share) / now) if now > 0.02 else "-:--"


class ProgressView(Protocol):
    def begin(self, what: str, jobs: Sequence[Job]) -> None: ...
    def event(self, job: Job, event: Mapping[str, Any]) -> None: ...
    def refresh(self) -> None: ...
    def log(self, message: str) -> None: ...
    def end(self) -> None: ...


class NullView:
    def begin(self, what: str, jobs: Sequence[Job]) -> None: ...
    def event(self, job: Job, event: Mapping[str, Any]) -> None: ...
    def refresh(self) -> None: ...
    def log(self, message: str) -> None: ...
    def end(self) -> None: ...


class LogView:
    """For logs: every job that ends, and the progress of all every few seconds."""

    EVERY = 10.0  # seconds

    def __init__(self) -> None:
        self._board = ProgressBoard()
        self._last = 0.0

    def begin(self, what: str, jobs: Sequence[Job]) -> None:
        self._board.begin(what, jobs)
        self._last = time.monotonic()
        if jobs:
            self.log(f"{what}: {len(jobs)} to do")

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        row = self._board.take(job, event)
        if event["kind"] in ("done", "failed"):
            reached = f"  validation loss {row.validation:.4f}" if row.validation is not None else ""
            message = f"  {event['message']}" if event["kind"] == "failed" else ""
            counted = f"{self._board.done}/{len(self._board.rows)}"
            self.log(f"{counted}  {job.place} {event['kind']}{reached}{message}")

    def refresh(self) -> None:
        now = time.monotonic()
        if now - self._last >= self.EVERY:
            self._last = now
            working = [row for row in self._board.rows.values() if row.state not in ("waiting", "done", "failed")]
            rows = ", ".join(
                f"{row.job.place} {row.step}/{row.steps}" + (f" loss {row.loss:.3f}" if row.loss else "")
                for row in working
            )
            self.log(f"{self._board.share:.0%} of {self._board.what}, {self._board.left} left: {rows}")

    def log(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)  # noqa: T201

    def end(self) -> None: ...


class TerminalView:
    """For terminals: one line per job, and the remaining time."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._board = ProgressBoard()
        self._live: Live | None = None

    def begin(self, what: str, jobs: Sequence[Job]) -> None:
        self._board.begin(what, jobs)
        if jobs:
            self._live = Live(self._table(), console=self._console, auto_refresh=False, transient=True)
            self._live.start()

    def event(self, job: Job, event: Mapping[str, Any]) -> None:
        self._board.take(job, event)

    def refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._table(), refresh=True)

    def log(self, message: str) -> None:
        self._console.print(escape(message))

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _table(self) -> Group:
        board = self._board
        head = f"{board.what}: {board.done} of {len(board.rows)} done, {board.share:.0%}, {board.left} left"
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name, justify in (
            ("", "left"),
            ("step", "right"),
            ("", "left"),
            ("loss", "right"),
            ("validation", "right"),
        ):
            table.add_column(name, justify=justify)  # pyright: ignore[reportArgumentType]
        order = {"training": 0, "scoring": 0, "done": 1, "failed": 1}
        rows = sorted(board.rows.values(), key=lambda row: order.get(row.state, 2))
        for row in rows[:MOST_ROWS]:
            table.add_row(
                Text(row.job.place, style="" if row.state == "waiting" else "bold"),
                f"{row.step}/{row.steps}" if row.state == "training" else row.state,
                ProgressBar(total=1.0, completed=row.share, width=24),
                "" if row.loss is None else f"{row.loss:.4f}",
                "" if row.validation is None else f"{row.validation:.4f}",
            )
        more = [Text(f"and {len(rows) - MOST_ROWS} more")] if len(rows) > MOST_ROWS else []
        return Group(Text(head, style="bold"), table, *more)


def view_for_stderr() -> ProgressView:
    return TerminalView() if sys.stderr.isatty() else LogView()
