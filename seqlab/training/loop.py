"""The training loop. What it computes depends on (settings, seed, step) alone, so a stopped run goes on bit by bit.

Before each step the random generator is seeded from (seed, step): dropout needs no saved state, and a sample printed
at an evaluation disturbs nothing.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter, ValidationError

from seqlab.config import TrainSettings
from seqlab.contracts import State
from seqlab.errors import DataError, MissingInput, SeqlabError, TrainingFailed
from seqlab.models.model import Model
from seqlab.runs.checkpoint import averaged, checkpoints, load_checkpoint, read_progress, save_checkpoint, step_of
from seqlab.runs.directory import WEIGHTS, RunDirectory
from seqlab.runs.log import MetricsLog
from seqlab.runs.manifest import verified
from seqlab.tasks.task import Task
from seqlab.training.optimization import PLATEAU_FACTOR, PLATEAU_PATIENCE, clip, learning_rate, make_optimizer
from seqlab.training.progress import Evaluation, Reporter
from seqlab.training.signals import Interrupts

EVALUATED_TOKENS = 500_000  # of a longer held-out part, evaluations during training score the beginning


@dataclass(frozen=True)
class Progress:
    """Where a run stands: all that a checkpoint keeps besides tensors."""

    step: int = 0
    best_loss: float | None = None  # of the criterion that the task has, by default the loss
    best_step: int = 0
    stale: int = 0  # evaluations since the best
    skipped: int = 0  # updates in a row that were not finite
    plateau: float = 1.0
    interval_nats: float = 0.0  # summed training loss since the last evaluation
    interval_count: int = 0
    seconds: float = 0.0  # of training so far
    finished: str = ""  # why it ended, once it has


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
        self.every = settings.evaluate_every or max(1, -(-self.steps // 10))
        self.optimizer = make_optimizer(model, settings)
        self.parameters = list(model.parameters())
        self.progress = Progress()
        self.carry: State | None = None
        self._saved_step = -1

    def restore(self) -> None:
        """Go back to the newest checkpoint."""
        newest = newest_checkpoint(self.directory)
        self.progress = self._fitting(read_progress(newest), newest)
        following = self.task.batch("train", self.settings.seed, self.progress.step * self.settings.accumulate)
        start = None if following.fresh else self.model.backbone.start(len(following.tensors()[0]))
        self.carry = load_checkpoint(newest, self.model, self.optimizer, start)
        if self.progress.best_loss is not None:  # better now than when it is loaded at the end
            verified(self.directory.path, WEIGHTS)
        self._saved_step = self.progress.step

    def _fitting(self, found: dict[str, Any], checkpoint: Path) -> Progress:
        try:
            progress = TypeAdapter(Progress).validate_python(found)
        except ValidationError:
            raise DataError(f"'{checkpoint}' holds progress that this version does not know.") from None
        if not 0 <= progress.step <= self.steps:
            raise DataError(f"'{checkpoint}' is at step {progress.step}, and the run has {self.steps}.")
        return progress

    def reopen(self) -> None:
        """Let a finished run go on."""
        self._note(finished="", stale=0)

    def run(self) -> Progress:
        """Train to the end of the budget, an early stop or a signal; a checkpoint is left in every case."""
        log = MetricsLog(self.directory.metrics, self.progress.step)
        self.reporter.begin(self.progress.step, self.steps)
        last_save = self._began = time.monotonic()
        self._seconds_before = self.progress.seconds
        try:
            with Interrupts() as interrupts:
                if self._saved_step < 0:
                    self._save()  # so that there is always one to go on from
                while not self.progress.finished:
                    self._train_step(log)
                    if self._evaluation_is_due():
                        self._evaluate(log)
                    if self.progress.step == self.steps and not self.progress.finished:
                        self._note(finished="the budget is used up")
                    if self._evaluation_is_due() or time.monotonic() - last_save >= self.settings.checkpoint_seconds:
                        self._save()
                        last_save = time.monotonic()
                    if interrupts.received is not None:
                        self._save()
                        raise Interrupted(self.directory, self.progress.step, interrupts.received)
        finally:
            log.close()
            self.reporter.end()
        return self.progress

    def _train_step(self, log: MetricsLog) -> None:
        step = self.progress.step
        began = time.perf_counter()
        rate = learning_rate(self.settings, step - self.settings.start_step, self.steps - self.settings.start_step,
                             self.progress.plateau)  # fmt: skip
        nats, count, norm = self.gradients(step)
        where = None if math.isfinite(nats) and math.isfinite(norm) else self._not_finite(nats)
        if where is None:
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            self.optimizer.step()
            self._note(skipped=0, interval_nats=self.progress.interval_nats + nats,
                       interval_count=self.progress.interval_count + count)  # fmt: skip
        else:
            self._skip(step + 1, where)
        self._note(step=step + 1)
        log.write(step=step + 1, loss=nats / count, lr=rate, norm=norm)
        self.reporter.step(step + 1, nats / count, count / (time.perf_counter() - began))

    def gradients(self, step: int) -> tuple[float, int, float]:
        """Gradients of the mean loss of one step's batches, clipped: summed nats, count, and the norm from before."""
        seed_generators(step_seed(self.settings.seed, step))
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        device = self.parameters[0].device
        nats, count, scale = 0.0, 0, 0
        for micro in range(self.settings.accumulate):
            index = step * self.settings.accumulate + micro
            batch = self.task.batch("train", self.settings.seed, index).to(device)
            loss = self.task.loss(self.model, batch, self.carry, step)
            scale = scale or loss.count
            (loss.total / scale).backward()
            self.carry = loss.carry
            nats += float(loss.total.detach())
            count += loss.count
        if count != scale:  # several batches: the mean is over all of them
            for parameter in self.parameters:
                if parameter.grad is not None:
                    parameter.grad.mul_(scale / count)
        return nats, count, clip(self.parameters, self.settings)

    def _not_finite(self, nats: float) -> str:
        """Which tensor went wrong first, in words."""
        for name, parameter in self.model.named_parameters():
            if not bool(torch.isfinite(parameter).all()):
                return f"weight '{name}'"
        if not math.isfinite(nats):
            return "the loss"
        for name, parameter in self.model.named_parameters():
            if parameter.grad is not None and not bool(torch.isfinite(parameter.grad).all()):
                return f"the gradient of '{name}'"
        return "the gradient's norm"

    def _skip(self, step: int, where: str) -> None:
        """Leave the weights as they are; too many of these in a row end the run."""
        self.carry = None  # what is not finite must not be carried on
        self._note(skipped=self.progress.skipped + 1)
        if self.progress.skipped > self.settings.max_skipped:
            raise TrainingFailed(
                f"step {step}: {where} is not a finite number, {self.progress.skipped} times in a row. The weights are "
                f"as they were before. Lower the learning rate (train.lr={self.settings.lr / 3:.1g}) or clip harder, "
                f"then train again; the last checkpoint is in '{self.directory.checkpoints}'."
            )
        self.reporter.log(f"step {step}: {where} is not a finite number; this update is left out")

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
        self._note(interval_nats=0.0, interval_count=0)
        if is_best:
            self.directory.put_weights(averaged)
            self._note(best_loss=criterion, best_step=now.step, stale=0)
        else:
            self._note(stale=now.stale + 1)
            self._lose_patience()
        sample = self.sample() if is_finite else ""
        headline = self.task.headline  # told where another number than the loss decides
        own = {} if criterion == loss else {headline: self.task.metrics(scores)[headline]}
        log.write(step=now.step, train_loss=train_loss, validation_loss=loss, seconds=round(self._seconds(), 3),
                  sample=sample, **{f"validation_{name}": value for name, value in own.items()})  # fmt: skip
        self.reporter.evaluation(Evaluation(now.step, train_loss, loss, is_best, sample, own))

    def _averaged(self) -> Model:
        """The model with the mean of its weights now and at the evaluations before, as many as are to be averaged."""
        if self.settings.average_checkpoints == 1:
            return self.model
        return averaged(self.model, self._evaluated()[1 - self.settings.average_checkpoints :])

    def _evaluated(self) -> list[Path]:
        """The checkpoints of earlier evaluations."""
        found = checkpoints(self.directory.checkpoints)
        return [path for path in found if 0 < (step := step_of(path)) < self.progress.step and step % self.every == 0]

    def _lose_patience(self) -> None:
        stale = self.progress.stale
        if self.settings.schedule == "plateau" and stale % PLATEAU_PATIENCE == 0:
            self._note(plateau=self.progress.plateau * PLATEAU_FACTOR)
        if self.settings.patience is not None and stale >= self.settings.patience:
            self._note(finished=f"no better for {stale} evaluations")

    def _save(self) -> None:
        self._note(seconds=self._seconds())
        if self._saved_step != self.progress.step:
            progress = asdict(self.progress)
            needed = (
                self._evaluated()[1 - self.settings.average_checkpoints :]
                if self.settings.average_checkpoints > 1
                else []
            )
            save_checkpoint(
                self.directory.checkpoints, self.progress.step, self.model, self.optimizer, self.carry, progress, needed
            )
            self._saved_step = self.progress.step

    def _seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._began

    def _note(self, **changes: Any) -> None:
        self.progress = replace(self.progress, **changes)


def newest_checkpoint(directory: RunDirectory) -> Path:
    found = checkpoints(directory.checkpoints)
    if not found:
        raise MissingInput(
            f"'{directory.path}' has no checkpoint to go on from: it was stopped before the first, or they are gone. "
            f"Train it anew with --overwrite, or another run from its weights with --init {directory.path}."
        )
    return found[-1]


class Interrupted(SeqlabError):
    """Training was asked to stop, and has left a checkpoint."""

    def __init__(self, directory: RunDirectory, step: int, number: int):
        super().__init__(f"stopped after step {step}; everything is saved. Go on with: seqlab resume {directory.path}")
        self.exit_code = 128 + number


def step_seed(seed: int, step: int) -> int:
    """One number for the generators, different for neighbouring seeds and steps."""
    return (seed * 0x9E3779B97F4A7C15 + step * 0xBF58476D1CE4E5B9 + 1) % 2**63


def seed_generators(number: int) -> None:
    torch.default_generator.manual_seed(number)  # a thousand times as fast as torch.manual_seed
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed(number)
