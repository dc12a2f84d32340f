"""The progress of all jobs: a live table in a terminal, plain lines in a log."""

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from seqlab.comparison.execution.jobs import Job
from seqlab.distributed.world import launched
from seqlab.printable import printable
from seqlab.terminal import SafeConsole
from seqlab.training.progress import clock

MOST_ROWS = 24  # running jobs first


@dataclass
class JobProgress:
    job: Job
    state: str = "waiting"
    first: int = 0  # the step where this process started
    step: int = 0
    steps: int = 0
    loss: float | None = None
    validation: float | None = None

    @property
    def share(self) -> float:
        return 1.0 if self.state == "done" else self.step / self.steps if self.steps else 0.0


class ProgressView:
    """Follows the progress of all jobs and shows nothing; subclasses show it."""

    def __init__(self) -> None:
        self.rows: dict[str, JobProgress] = {}
        self.what: str = ""
        self.began: float = 0.0
        self._lock = threading.Lock()

    def begin(self, what: str, jobs: Sequence[Job]) -> None:
        self.what, self.began = what, time.monotonic()
        self.rows = {job.place: JobProgress(job, steps=job.settings["train"]["steps"]) for job in jobs}

    def event(self, job: Job, event: Mapping[str, Any]) -> JobProgress:
        with self._lock:
            row = self.rows[job.place]
            if event["kind"] != "log":
                row.state = "training" if event["kind"] in ("begin", "step", "evaluation") else str(event["kind"])
            row.first = event["step"] if event["kind"] == "begin" else row.first
            row.step, row.steps = event.get("step", row.step), event.get("steps", row.steps)
            row.loss = event.get("loss", row.loss)
            row.validation = event.get("validation", row.validation)
            return row

    def refresh(self) -> None: ...
    def log(self, message: str) -> None: ...
    def end(self) -> None: ...

    def alert(self, message: str) -> None:
        """Say what happened in this process alone."""
        self.log(message)

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


class OtherProcessView(ProgressView):
    """For all but the first of several processes: only what happens to their own workers is shown."""

    def alert(self, message: str) -> None:
        print(f"process {launched().rank}: {printable(message)}", file=sys.stderr, flush=True)  # noqa: T201


class LogView(ProgressView):
    """For logs: every job that ends, and the overall progress every few seconds."""

    EVERY = 10.0  # seconds
    _last = 0.0

    def begin(self, what: str, jobs: Sequence[Job]) -> None:
        super().begin(what, jobs)
        self._last = time.monotonic()
        if jobs:
            self.log(f"{what}: {len(jobs)} to do")

    def event(self, job: Job, event: Mapping[str, Any]) -> JobProgress:
        row = super().event(job, event)
        if event["kind"] in ("done", "failed", "stopped"):
            loss = f"  validation loss {row.validation:.4f}" if row.validation is not None else ""
            message = f"  {event['message']}" if event["kind"] == "failed" else ""
            self.log(f"{self.done}/{len(self.rows)}  {job.place} {event['kind']}{loss}{message}")
        return row

    def refresh(self) -> None:
        now = time.monotonic()
        if now - self._last >= self.EVERY:
            self._last = now
            rows = ", ".join(
                f"{row.job.place} {row.step}/{row.steps}" + (f" loss {row.loss:.3f}" if row.loss else "")
                for row in self.rows.values()
                if row.state not in ("waiting", "taken", "done", "failed", "stopped")
            )
            self.log(f"{self.share:.0%} of {self.what}, {self.left} left: {rows}")

    def log(self, message: str) -> None:
        print(printable(message), file=sys.stderr, flush=True)  # noqa: T201


class TerminalView(ProgressView):
    """For terminals: one line per job, and the remaining time."""

    def __init__(self) -> None:
        super().__init__()
        self._console = SafeConsole(stderr=True)
        self._live: Live | None = None

    def begin(self, what: str, jobs: Sequence[Job]) -> None:
        super().begin(what, jobs)
        if jobs:
            self._live = Live(self._table(), console=self._console, auto_refresh=False, transient=True)
            self._live.start()

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
        head = f"{self.what}: {self.done} of {len(self.rows)} done, {self.share:.0%}, {self.left} left"
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("", "step", "", "loss", "validation"):
            table.add_column(name, justify="right" if name else "left")
        order = {"training": 0, "scoring": 0, "done": 1, "failed": 1}
        rows = sorted(self.rows.values(), key=lambda row: order.get(row.state, 2))
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
    """Of several processes that share the jobs, one shows all of them."""
    if not launched().is_writer:
        return OtherProcessView()
    return TerminalView() if sys.stderr.isatty() else LogView()
