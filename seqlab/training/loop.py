"""The training loop: steps, evaluations, checkpoints, early stopping.

What it computes depends on (settings, seed, step) alone, so a resumed run is equal to an uninterrupted one bit by bit.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab.config import TrainSettings
from seqlab.errors import DataError, MissingInput, SeqlabError, TrainingFailed
from seqlab.models.model import Model
from seqlab.runs.checkpoint import averaged, checkpoints, load_checkpoint, read_progress, save_checkpoint, step_of
from seqlab.runs.directory import WEIGHTS, RunDirectory
from seqlab.runs.log import MetricsLog
from seqlab.runs.manifest import read_verified
from seqlab.tasks.task import Task
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_interval
from seqlab.training.optimization import PLATEAU_FACTOR, PLATEAU_PATIENCE, learning_rate
from seqlab.training.progress import EvaluationEvent, Reporter
from seqlab.training.signals import Interrupts
from seqlab.training.step import TrainingStep


@dataclass(frozen=True)
class TrainingProgress:
    """Where a run is: everything in a checkpoint besides tensors."""

    step: int = 0
    best_loss: float | None = None  # the task's criterion, by default the validation loss
    best_step: int = 0
    stale: int = 0  # evaluations since the best
    skipped: int = 0  # updates in a row that were not finite
    plateau: float = 1.0
    interval_nats: float = 0.0  # summed training loss since the last evaluation
    interval_count: int = 0
    seconds: float = 0.0  # spent on training so far
    finished: str = ""  # why training ended; empty while it runs


class Trainer:
    """Trains one model in one run directory."""

    def __init__(
        self,
        directory: RunDirectory,
        settings: TrainSettings,
        model: Model,
        task: Task,
        reporter: Reporter,
        sample: Callable[[], str],
    ):
        assert settings.steps is not None, "budgets are turned into steps before the loop"
        self.directory, self.settings, self.model, self.task = directory, settings, model, task
        self.reporter, self.sample = reporter, sample
        self.steps = settings.steps
        self.every = evaluation_interval(settings, self.steps)
        self.training = TrainingStep(model, task, settings)
        self.progress = TrainingProgress()
        self._saved_step = -1

    def restore(self) -> None:
        """Continue from the newest checkpoint."""
        newest = newest_checkpoint(self.directory)
        self.progress = self._checked_progress(read_progress(newest), newest)
        following = self.task.batch("train", self.settings.seed, self.progress.step * self.settings.accumulate)
        start = None if following.fresh else self.model.backbone.start(len(following.tensors()[0]))
        self.training.carry = load_checkpoint(newest, self.model, self.training.optimizer, start)
        if self.progress.best_loss is not None:  # a damaged file should fail now, not at the end
            read_verified(self.directory.path, WEIGHTS)
        self._saved_step = self.progress.step

    def _checked_progress(self, stored: dict[str, Any], checkpoint: Path) -> TrainingProgress:
        try:
            progress = TypeAdapter(TrainingProgress).validate_python(stored)
        except ValidationError:
            raise DataError(f"'{checkpoint}' holds progress in a form that this version does not know.") from None
        if not 0 <= progress.step <= self.steps:
            raise DataError(f"'{checkpoint}' is at step {progress.step}, and the run has {self.steps}.")
        return progress

    def reopen(self) -> None:
        """Continue a finished run."""
        self._set(finished="", stale=0)

    def run(self) -> TrainingProgress:
        """Train until the budget is used up, early stopping or a signal; every way out leaves a checkpoint."""
        log = MetricsLog(self.directory.metrics, self.progress.step)
        self.reporter.begin(self.progress.step, self.steps)
        last_save = self._began = time.monotonic()
        self._seconds_before = self.progress.seconds
        try:
            with Interrupts() as interrupts:
                if self._saved_step < 0:
                    self._save()  # so there is always one to resume from
                while not self.progress.finished:
                    self._train_step(log)
                    if self._evaluation_is_due():
                        self._evaluate(log)
                    if self.progress.step == self.steps and not self.progress.finished:
                        self._set(finished="the budget is used up")
                    if self._evaluation_is_due() or time.monotonic() - last_save >= self.settings.checkpoint_seconds:
                        self._save()
                        last_save = time.monotonic()
                    if interrupts.received is not None:
                        self._save()
                        raise TrainingInterrupted(self.directory, self.progress.step, interrupts.received)
        finally:
            log.close()
            self.reporter.end()
        return self.progress

    def _train_step(self, log: MetricsLog) -> None:
        step = self.progress.step
        began = time.perf_counter()
        rate = learning_rate(self.settings, step - self.settings.start_step, self.steps - self.settings.start_step,
                             self.progress.plateau)  # fmt: skip
        loss = self.training.gradients(step)
        nats, count, norm = loss
        nonfinite = self.training.first_nonfinite(loss)
        if nonfinite is None:
            self.training.update(rate)
            self._set(skipped=0, interval_nats=self.progress.interval_nats + nats,
                       interval_count=self.progress.interval_count + count)  # fmt: skip
        else:
            self._skip(step + 1, nonfinite)
        self._set(step=step + 1)
        log.write(step=step + 1, loss=nats / count, lr=rate, norm=norm)
        self.reporter.step(step + 1, nats / count, count / (time.perf_counter() - began))

    def _skip(self, step: int, nonfinite: str) -> None:
        """Leave the weights as they are; too many skipped updates in a row end the run."""
        self.training.carry = None  # a state that is not finite must not be carried on
        self._set(skipped=self.progress.skipped + 1)
        if self.progress.skipped > self.settings.max_skipped:
            raise TrainingFailed(
                f"step {step}: {nonfinite} is not a finite number, {self.progress.skipped} times in a row. The weights "
                f"are unchanged. Lower the learning rate (train.lr={self.settings.lr / 3:.1g}) or clip harder, "
                f"then train again; the last checkpoint is in '{self.directory.checkpoints}'."
            )
        self.reporter.log(f"step {step}: {nonfinite} is not a finite number; this update is skipped")

    def _evaluation_is_due(self) -> bool:
        return self.progress.step % self.every == 0 or self.progress.step == self.steps

    def _evaluate(self, log: MetricsLog) -> None:
        now = self.progress
        self.model.eval()
        averaged = self._averaged()
        scores = self.task.validate(averaged, EVALUATED_TOKENS)
        loss, criterion = scores.loss, scores.criterion
        is_finite = math.isfinite(loss)
        is_best = is_finite and (now.best_loss is None or criterion < now.best_loss)
        train_loss = now.interval_nats / now.interval_count if now.interval_count else None
        self._set(interval_nats=0.0, interval_count=0)
        if is_best:
            self.directory.write_weights(averaged)
            self._set(best_loss=criterion, best_step=now.step, stale=0)
        else:
            self._set(stale=now.stale + 1)
            self._lose_patience()
        sample = self.sample() if is_finite else ""
        # reported if another metric than the loss selects the best weights
        metric = None if criterion == loss else self.task.headline_metric
        value = self.task.metrics(scores)[metric.key] if metric else None
        log.write(step=now.step, train_loss=train_loss, validation_loss=loss, seconds=round(self._seconds(), 3),
                  sample=sample, **({f"validation_{metric.key}": value} if metric else {}))  # fmt: skip
        self.reporter.evaluation(EvaluationEvent(now.step, train_loss, loss, is_best, sample, metric, value))

    def _averaged(self) -> Model:
        """The model with the mean of its current weights and those of the last evaluations."""
        if self.settings.average_checkpoints == 1:
            return self.model
        return averaged(self.model, self._evaluated()[1 - self.settings.average_checkpoints :])

    def _evaluated(self) -> list[Path]:
        """The checkpoints of earlier evaluations."""
        return [
            path
            for path in checkpoints(self.directory.checkpoints)
            if 0 < (step := step_of(path)) < self.progress.step and step % self.every == 0
        ]

    def _lose_patience(self) -> None:
        stale = self.progress.stale
        if self.settings.schedule == "plateau" and stale % PLATEAU_PATIENCE == 0:
            self._set(plateau=self.progress.plateau * PLATEAU_FACTOR)
        if self.settings.patience is not None and stale >= self.settings.patience:
            self._set(finished=f"no better for {stale} evaluations")

    def _save(self) -> None:
        self._set(seconds=self._seconds())
        if self._saved_step != self.progress.step:
            progress = asdict(self.progress)
            needed = (
                self._evaluated()[1 - self.settings.average_checkpoints :]
                if self.settings.average_checkpoints > 1
                else []
            )
            save_checkpoint(
                self.directory.checkpoints,
                self.progress.step,
                self.model,
                self.training.optimizer,
                self.training.carry,
                progress,
                needed,
            )
            self._saved_step = self.progress.step

    def _seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._began

    def _set(self, **changes: Any) -> None:
        self.progress = replace(self.progress, **changes)


def newest_checkpoint(directory: RunDirectory) -> Path:
    paths = checkpoints(directory.checkpoints)
    if not paths:
        raise MissingInput(
            f"'{directory.path}' has no checkpoint to resume from: it was stopped before the first, or they were "
            f"removed. Train it again with --overwrite, or start another run from its weights: --init {directory.path}."
        )
    return paths[-1]


class TrainingInterrupted(SeqlabError):
    """A signal stopped training; there is a checkpoint to resume from."""

    def __init__(self, directory: RunDirectory, step: int, number: int):
        super().__init__(
            f"stopped after step {step}; everything is saved. Continue with: seqlab resume {directory.path}"
        )
        self.exit_code = 128 + number
