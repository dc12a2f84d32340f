"""The training loop: steps, evaluations, checkpoints, early stopping.

The result depends on (settings, seed, step) alone, so a resumed run equals an uninterrupted one bit by bit. Only with
train.replan it depends on the clock.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from seqlab.allocator import release_freed_memory
from seqlab.config import TrainSettings
from seqlab.distributed.group import from_writer, largest
from seqlab.distributed.sharding import shard, whole
from seqlab.distributed.world import joined
from seqlab.errors import DataError, TrainingFailed
from seqlab.models.model import Model
from seqlab.runs.carried import gather_state
from seqlab.runs.checkpoint import (
    averaged,
    checkpoints,
    load_checkpoint,
    load_weights,
    read_progress,
    save_checkpoint,
    step_of,
    weights_of,
)
from seqlab.runs.directory import WEIGHTS, RunDirectory
from seqlab.runs.log import MetricsLog
from seqlab.runs.manifest import read_verified
from seqlab.storage import validated
from seqlab.tasks.task import Task
from seqlab.training.budget import steps_of_max_epochs
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_interval
from seqlab.training.optimization import PLATEAU_FACTOR, PLATEAU_PATIENCE, learning_rate
from seqlab.training.processes import layers_to_shard
from seqlab.training.progress import EvaluationEvent, Reporter
from seqlab.training.replanning import Replanning
from seqlab.training.resuming import TrainingInterrupted
from seqlab.training.signals import Interrupts
from seqlab.training.step import TrainingStep


@dataclass
class TrainingProgress:
    """Where a run is: everything in a checkpoint besides tensors."""

    step: int = 0
    best_loss: float | None = None  # the task's criterion, by default the validation loss
    best_validation_loss: float | None = None  # at the best step: of equal criteria, the lower loss wins
    best_step: int = 0
    evaluations_since_best: int = 0
    skipped: int = 0  # updates in a row that were not finite
    plateau: float = 1.0
    interval_nats: float = 0.0  # summed training loss since the last evaluation
    interval_cross_entropy: float | None = None  # the same sum of the plain cross-entropy, where the loss is another
    interval_count: int = 0
    seconds: float = 0.0  # spent on training so far
    steps: int | None = None  # as planned last, with train.replan
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
        sample: Callable[[Model], str],
        build: Callable[[], Model] | None = None,
    ):
        assert settings.steps is not None, "budgets are turned into steps before the loop"
        self.directory, self.settings, self.model, self.task = directory, settings, model, task
        self.reporter, self.sample, self.build = reporter, sample, build
        self.world = joined()
        if settings.shard and self.world.size > 1:
            shard(model, layers_to_shard(model), settings.offload)
        self.steps = settings.steps
        self.every = evaluation_interval(settings, self.steps)
        self.training = TrainingStep(model, task, settings)
        self.replanning = Replanning(settings, steps_of_max_epochs(settings, task)) if settings.replan else None
        self.progress = TrainingProgress()
        self._saved_step = -1

    def restore(self, checkpoint: Path) -> None:
        """Continue from a checkpoint."""
        stored = read_progress(checkpoint)
        stored |= {"evaluations_since_best": stored["stale"]} if "stale" in stored else {}  # its former name
        self.progress = validated(TrainingProgress, stored, checkpoint)
        if self.replanning is not None:
            self.steps = self.progress.steps or self.steps
        if not 0 <= self.progress.step <= self.steps:
            raise DataError(f"'{checkpoint}' is at step {self.progress.step}, and the run has {self.steps}.")
        next_batch = self.task.batch("train", self.settings.seed, self.progress.step * self.settings.accumulate)
        rows = len(next_batch.tensors()[0])
        start = None if next_batch.fresh else self._whole_model().backbone.start(rows)
        carry = load_checkpoint(checkpoint, self.model, self.training.optimizer, start)
        self.training.carry = carry and carry.map(lambda leaf: leaf[self.world.rows(rows).slice])
        if self.progress.best_loss is not None:  # a damaged file should fail now, not at the end
            read_verified(self.directory.path, WEIGHTS)
        self._saved_step = self.progress.step

    def reopen(self) -> None:
        """Continue a finished run."""
        self.progress.finished, self.progress.evaluations_since_best = "", 0

    def run(self) -> TrainingProgress:
        """Train until all steps are done, early stopping or a signal; there is always a checkpoint at the end."""
        log = MetricsLog(self.directory.metrics, self.progress.step, self.world.is_writer)
        self.reporter.unit = self.task.unit
        self.reporter.begin(self.progress.step, self.steps)
        last_save = self._began = time.monotonic()
        self._seconds_before = self.progress.seconds
        try:
            with Interrupts() as interrupts:
                if self._saved_step < 0:
                    self._save()  # so there is always one to resume from
                while not self.progress.finished:
                    self._train_step(log)
                    self._replan()
                    if self._evaluation_is_due():
                        self._evaluate(log)
                    if self.progress.step == self.steps and not self.progress.finished:
                        self.progress.finished = "all steps are done"
                    save_is_due = time.monotonic() - last_save >= self.settings.checkpoint_seconds
                    # a signal may reach one process, and clocks differ: all of them save and stop at the same step
                    save_is_due, signal = largest([save_is_due, interrupts.received or 0])
                    if self._evaluation_is_due() or save_is_due or signal:
                        self._save()
                        last_save = time.monotonic()
                    if signal:
                        raise TrainingInterrupted(self.directory, self.progress.step, signal)
        finally:
            log.close()
            self.reporter.end()
            release_freed_memory()
        return self.progress

    def _train_step(self, log: MetricsLog) -> None:
        progress, first = self.progress, self.settings.start_step
        began = time.perf_counter()
        epoch_steps = self.task.steps_per_epoch / self.settings.accumulate
        rate = learning_rate(self.settings, progress.step - first, self.steps - first, progress.plateau, epoch_steps)
        loss = self.training.gradients(progress.step)
        nats, count, norm, cross_entropy = loss
        nonfinite = self.training.first_nonfinite(loss)
        if nonfinite is None:
            self.training.update(rate)
            progress.skipped = 0
            progress.interval_nats += nats
            progress.interval_count += count
            if cross_entropy is not None:
                progress.interval_cross_entropy = (progress.interval_cross_entropy or 0.0) + cross_entropy
        else:
            self._skip(progress.step + 1, nonfinite)
        progress.step += 1
        plain = {} if cross_entropy is None else {"cross_entropy": cross_entropy / count}
        log.write(step=progress.step, loss=nats / count, **plain, lr=rate, norm=norm)
        self.reporter.step(progress.step, nats / count, count / (time.perf_counter() - began))

    def _replan(self) -> None:
        if self.replanning is None or self.progress.step == self.steps:
            return
        planned = from_writer(self.replanning.steps(self.progress.step, self.steps, self._seconds()))
        if planned != self.steps:
            self.steps = self.progress.steps = planned
            self.reporter.plan(planned)

    def _skip(self, step: int, nonfinite: str) -> None:
        """Leave the weights as they are; too many skipped updates in a row end the run."""
        self.training.carry = None  # a state that is not finite must not be carried on
        self.progress.skipped += 1
        if self.progress.skipped > self.settings.max_skipped:
            raise TrainingFailed(
                f"step {step}: {nonfinite} is not a finite number, {self.progress.skipped} times in a row. The weights "
                f"are unchanged. Lower the learning rate (train.lr={self.settings.lr / 3:.1g}) or train.clip_norm, "
                f"then train again; the last checkpoint is in '{self.directory.checkpoints}'."
            )
        self.reporter.log(f"step {step}: {nonfinite} is not a finite number; this update is skipped")

    def _evaluation_is_due(self) -> bool:
        return self.progress.step % self.every == 0 or self.progress.step == self.steps

    def _evaluate(self, log: MetricsLog) -> None:
        progress = self.progress
        self.model.eval()
        others = self._checkpoints_to_average()
        current = self._whole_model()
        model = averaged(current, others) if others else current
        scores = self.task.validate(model, EVALUATED_TOKENS)
        loss, criterion = scores.loss, scores.criterion
        is_finite = math.isfinite(loss)
        is_best, is_tie = is_finite and self._is_better(criterion, loss), criterion == progress.best_loss
        train_loss, train_cross_entropy = self._training_losses()
        if is_best:
            if self.world.is_writer:
                self.directory.write_weights(model)
            progress.best_loss, progress.best_validation_loss = criterion, loss
            progress.best_step, progress.evaluations_since_best = progress.step, 0
        else:
            progress.evaluations_since_best += 1
            self._count_against_patience()
        sample = self.sample(current) if is_finite and self.world.is_writer else ""
        # reported if another metric than the loss selects the best weights
        metric = None if criterion == loss else self.task.headline_metric
        value = self.task.metrics(scores)[metric.key] if metric else None
        plain = {} if train_cross_entropy is None else {"train_cross_entropy": train_cross_entropy}
        log.write(step=progress.step, train_loss=train_loss, **plain, validation_loss=loss,
                  seconds=round(self._seconds(), 3), sample=sample,
                  **({f"validation_{metric.key}": value} if metric else {}))  # fmt: skip
        self.reporter.evaluation(
            EvaluationEvent(
                progress.step, train_loss, loss, is_best, sample, metric, value, train_cross_entropy, is_tie
            )
        )
        self.progress = TrainingProgress(**from_writer(asdict(progress)))  # rounding may differ between machines

    def _is_better(self, criterion: float, loss: float) -> bool:
        """Whether an evaluation is better than the best so far; equal accuracies are told apart by their losses."""
        best, best_loss = self.progress.best_loss, self.progress.best_validation_loss
        if best is None or criterion < best:
            return True
        return criterion == best and best_loss is not None and loss < best_loss

    def _training_losses(self) -> tuple[float | None, float | None]:
        """The mean training loss since the last evaluation, and the plain cross-entropy if the loss is another one."""
        progress, count = self.progress, self.progress.interval_count
        sums = progress.interval_nats if count else None, progress.interval_cross_entropy
        progress.interval_nats, progress.interval_cross_entropy, progress.interval_count = 0.0, None, 0
        loss, plain = (None if total is None else total / count for total in sums)
        return loss, plain

    def _checkpoints_to_average(self) -> list[Path]:
        """The checkpoints of earlier evaluations whose weights are averaged with the current ones."""
        count, now = self.settings.average_checkpoints - 1, self.progress.step
        paths = checkpoints(self.directory.checkpoints) if count else []
        return [path for path in paths if 0 < step_of(path) < now and step_of(path) % self.every == 0][-count:]

    def _count_against_patience(self) -> None:
        since_best = self.progress.evaluations_since_best
        if self.settings.schedule == "plateau" and since_best % PLATEAU_PATIENCE == 0:
            self.progress.plateau *= PLATEAU_FACTOR
        if self.settings.patience is not None and since_best >= self.settings.patience:
            self.progress.finished = f"no better for {since_best} evaluations"

    def _save(self) -> None:
        self.progress.seconds = self._seconds()
        if self._saved_step != self.progress.step:
            optimizer, progress, needed = self.training.optimizer, asdict(self.progress), self._checkpoints_to_average()
            carry = gather_state(self.training.carry)
            save_checkpoint(
                self.directory.checkpoints,
                self.progress.step,
                self.model,
                optimizer,
                carry,
                progress,
                needed,
                writes=self.world.is_writer,
            )
            self._saved_step = self.progress.step

    def _whole_model(self) -> Model:
        """The model; a copy with all weights, where they are sharded."""
        if not self.training.sharded:
            return self.model
        assert self.build is not None, "a sharded model is built again to be evaluated"
        copy = self.build().to(self.training.parameters[0].device)
        load_weights(copy, {name: whole(weight) for name, weight in weights_of(self.model).items()})
        return copy.eval()

    def _seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._began
