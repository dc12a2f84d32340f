"""Reporters of training: a progress bar in a terminal, plain lines in a log."""

import sys
import time
from dataclasses import dataclass

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from seqlab.metrics.metric import Metric
from seqlab.printable import printable
from seqlab.terminal import SafeConsole
from seqlab.wording import decimals


@dataclass(frozen=True)
class EvaluationEvent:
    """One evaluation on the validation split during training."""

    step: int
    train_loss: float | None
    validation_loss: float
    is_best: bool
    sample: str
    metric: Metric | None = None  # selects the best weights, if not the loss
    value: float | None = None  # of that metric
    train_cross_entropy: float | None = None  # if the training loss is another one
    is_tie: bool = False  # whether the metric equals the best so far


class Reporter:
    """Receives the progress of training, and ignores it; subclasses show it."""

    unit = "token"  # of the speed, that of the task

    def begin(self, step: int, steps: int) -> None: ...
    def plan(self, steps: int) -> None: ...
    def step(self, step: int, loss: float, units_per_second: float) -> None: ...
    def evaluation(self, result: EvaluationEvent) -> None: ...
    def log(self, message: str) -> None: ...
    def end(self) -> None: ...


class LogReporter(Reporter):
    """For logs: a line every few seconds and at each evaluation."""

    EVERY = 10.0  # seconds

    def __init__(self) -> None:
        self._steps, self._first, self._began, self._last = 0, 0, 0.0, 0.0

    def begin(self, step: int, steps: int) -> None:
        self._steps, self._first = steps, step
        self._began = self._last = time.monotonic()

    def plan(self, steps: int) -> None:
        self._steps = steps

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        now = time.monotonic()
        if now - self._last >= self.EVERY:
            self._last = now
            left = (now - self._began) / max(1, step - self._first) * (self._steps - step)
            speed = f"{units_per_second:,.0f} {self.unit}s/s"
            self.log(f"step {step}/{self._steps}  loss {decimals(loss, 4)}  {speed}  {clock(left)} left")

    def evaluation(self, result: EvaluationEvent) -> None:
        self.log(f"step {result.step}/{self._steps}  {losses(result)}")
        if result.sample:
            self.log("    | " + result.sample.replace("\n", "\n    | "))

    def log(self, message: str) -> None:
        print(printable(message), file=sys.stderr, flush=True)  # noqa: T201


class ProgressBarReporter(Reporter):
    """For terminals: a bar with loss, validation loss, speed and time left; evaluations scroll by above it."""

    def __init__(self) -> None:
        self._console = SafeConsole(stderr=True)
        self._validation = "-"
        self._bar = Progress(
            TextColumn("[bold]step {task.completed}/{task.total}"),
            BarColumn(bar_width=None),
            TextColumn("loss {task.fields[loss]}  validation {task.fields[validation]}  {task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._task = self._bar.add_task("training", total=None, loss="-", validation="-", speed="-")

    def begin(self, step: int, steps: int) -> None:
        self._bar.update(self._task, total=steps, completed=step)
        self._bar.start()

    def plan(self, steps: int) -> None:
        self._bar.update(self._task, total=steps)

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        self._bar.update(
            self._task, completed=step, loss=decimals(loss, 4), speed=f"{units_per_second:,.0f} {self.unit}s/s"
        )

    def evaluation(self, result: EvaluationEvent) -> None:
        self._bar.update(self._task, validation=decimals(result.validation_loss, 4))
        self._console.print(f"[bold]step {result.step}[/]  {losses(result)}")
        if result.sample:
            self._console.print(f"[dim]{escape(result.sample)}[/]")

    def log(self, message: str) -> None:
        self._console.print(escape(message))

    def end(self) -> None:
        self._bar.stop()


def losses(result: EvaluationEvent) -> str:
    plain = result.train_cross_entropy
    plain_note = f" (cross-entropy {decimals(plain, 4)})" if plain is not None else ""
    train = f"training loss {decimals(result.train_loss, 4)}{plain_note}  " if result.train_loss is not None else ""
    metrics = f"  {result.metric.label} {result.metric.format(result.value)}" if result.metric else ""
    best = f"  (best so far{', by its loss' if result.is_tie else ''})" if result.is_best else ""
    return f"{train}validation loss {decimals(result.validation_loss, 4)}{metrics}{best}"


def clock(seconds: float) -> str:
    """75 to '1:15', 4000 to '1:06:40'."""
    whole = int(seconds)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:02d}:{whole % 60:02d}" if hours else f"{whole // 60}:{whole % 60:02d}"


def reporter_for_stderr() -> Reporter:
    return ProgressBarReporter() if sys.stderr.isatty() else LogReporter()
