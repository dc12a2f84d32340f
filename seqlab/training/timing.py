"""How long a training step and an evaluation take on this machine."""

import copy
import time
from dataclasses import dataclass

from seqlab.config import TrainSettings
from seqlab.models.model import Model
from seqlab.tasks.task import Task
from seqlab.training.evaluations import EVALUATED_TOKENS
from seqlab.training.step import TrainingStep

TIMED_STEPS = 20


@dataclass(frozen=True)
class StepTiming:
    step_seconds: float
    evaluation_seconds: float


def time_training(model: Model, task: Task, train: TrainSettings) -> StepTiming:
    """Time a few steps and one evaluation on a copy of the model, so that the run itself starts clean."""
    training = TrainingStep(copy.deepcopy(model), task, train)
    training.gradients(0)  # allocates and compiles
    began = time.perf_counter()
    for step in range(TIMED_STEPS):
        training.gradients(step)
        training.update()
    trained = time.perf_counter()
    task.validate(training.model.eval(), EVALUATED_TOKENS)
    return StepTiming((trained - began) / TIMED_STEPS, time.perf_counter() - trained)
