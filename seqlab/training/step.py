"""One training step: the gradients of its batches, clipped, and the optimizer's update.

The training loop, the timing of steps and the audit share it. What a step computes depends on (settings, seed, step)
alone: the random generator is seeded from (seed, step), so dropout needs no saved state and a sample printed at an
evaluation changes nothing.
"""

import math
from typing import NamedTuple

import numpy as np
import torch

from seqlab.allocator import tune_allocator
from seqlab.config import TrainSettings
from seqlab.contracts import Batch, Loss, State
from seqlab.distributed.gradients import sum_gradients
from seqlab.distributed.group import sum_array
from seqlab.distributed.sharding import is_sharded, own_part
from seqlab.distributed.world import RowSpan, joined
from seqlab.linear import matmul
from seqlab.models.model import Model
from seqlab.precision import full, training_precision
from seqlab.recomputation import recomputation
from seqlab.tasks.task import Task
from seqlab.threads import own_generator
from seqlab.training.optimization import clip, make_optimizer


class StepLoss(NamedTuple):
    loss_sum: float  # in nats, over all targets
    targets: int
    norm: float  # of the gradients before clipping
    cross_entropy_sum: float | None = None  # in nats, where the loss is another one


class TrainingStep:
    """A model with its optimizer and the state that is carried from batch to batch."""

    def __init__(self, model: Model, task: Task, settings: TrainSettings):
        tune_allocator(settings.keep_memory)
        self.model, self.task, self.settings = model, task, settings
        self.optimizer = make_optimizer(model, settings)
        self.parameters = list(model.parameters())
        self.sharded = is_sharded(self.parameters[0])
        self.carry: State | None = None

    def gradients(self, step: int) -> StepLoss:
        """Compute the clipped gradients of the mean loss of one step's batches."""
        with own_generator(), matmul(self.settings.matmul):
            seed_generators(step_seed(self.settings.seed, step))
            return self._gradients(step)

    def _gradients(self, step: int) -> StepLoss:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        device = self.parameters[0].device
        loss_sum, count, cross_entropy = 0.0, 0, None
        scale = 1 if self.sharded else 0  # sharded gradients are summed at once, so all processes scale alike
        for micro in range(self.settings.accumulate):
            index = step * self.settings.accumulate + micro
            batch = self.task.batch("train", self.settings.seed, index).to(device)
            with training_precision(self.settings.precision, device), recomputation(self.settings.recompute):
                loss = self._loss(batch, step)
            scale = scale or loss.count
            (loss.total / (scale or 1)).backward()
            self.carry = loss.carry and loss.carry.map(full)
            loss_sum += float(loss.total.detach())
            if loss.cross_entropy is not None:
                cross_entropy = (cross_entropy or 0.0) + float(loss.cross_entropy)
            count += loss.count
        loss_sum, count, cross_entropy = self._sum_up(loss_sum, count, scale or 1, cross_entropy)
        return StepLoss(loss_sum, count, clip(self.parameters, self.settings), cross_entropy)

    def _loss(self, batch: Batch, step: int) -> Loss:
        """The loss of a batch; with several processes, what the rows of this one add to it."""
        world, total = joined(), len(batch.tensors()[0])
        if world.size == 1:
            return self.task.loss(self.model, batch, self.carry, step)
        rows = world.rows(total)
        if self.sharded and not len(rows):  # the others need its weights: it computes a row that does not count
            idle = self.task.loss_of_rows(self.model, batch, RowSpan(0, 1, total), None, step)
            return Loss(idle.total * 0.0, 0)
        return self.task.loss_of_rows(self.model, batch, rows, self.carry, step)

    def _sum_up(
        self, loss_sum: float, count: int, scale: int, cross_entropy: float | None
    ) -> tuple[float, int, float | None]:
        """Sums over all processes; gradients, which are those of the sum divided by `scale`, become those of the
        mean."""
        exist = [parameter.grad is not None for parameter in self.parameters]
        if joined().size > 1:
            sums = [loss_sum, count, cross_entropy or 0.0, cross_entropy is not None, *exist]
            loss_sum, total, summed, has_plain, *having = sum_array(np.array(sums, dtype=np.float64)).tolist()
            count, cross_entropy, exist = int(total), summed if has_plain else None, [number > 0 for number in having]
        if joined().size > 1 and not self.sharded:
            sum_gradients(self.parameters, exist, scale / max(1, count))
        elif count not in (0, scale):  # several batches: the mean is over all of them
            for parameter in self.parameters:
                if parameter.grad is not None:
                    parameter.grad.mul_(scale / count)
        return loss_sum, max(1, count), cross_entropy

    def update(self, learning_rate: float | None = None) -> None:
        """Apply the optimizer update, at the given rate or at the peak rate of the settings."""
        if learning_rate is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate
        self.optimizer.step()

    def first_nonfinite(self, loss: StepLoss) -> str | None:
        """The tensor that went wrong first, in words; None if everything is finite."""
        if math.isfinite(loss.loss_sum) and math.isfinite(loss.norm):
            return None
        for name, parameter in self.model.named_parameters():
            if not bool(torch.isfinite(own_part(parameter)).all()):
                return f"weight '{name}'"
        if not math.isfinite(loss.loss_sum):
            return "the loss"
        for name, parameter in self.model.named_parameters():
            if parameter.grad is not None and not bool(torch.isfinite(own_part(parameter.grad)).all()):
                return f"the gradient of '{name}'"
        return "the gradient norm"


def step_seed(seed: int, step: int) -> int:
    """One number for the generators, different for neighboring seeds and steps."""
    return (seed * 0x9E3779B97F4A7C15 + step * 0xBF58476D1CE4E5B9 + 1) % 2**63


def seed_generators(number: int) -> None:
    torch.default_generator.manual_seed(number)  # a thousand times as fast as torch.manual_seed
    if torch.cuda.is_initialized():
        # masks of torch's own do not depend on the row: each process draws others
        torch.cuda.manual_seed((number + joined().rank) % 2**63)
