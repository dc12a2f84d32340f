"""Before the first step: whether the settings can be trained, and the budget as a number of steps."""

import copy
import time
from typing import Any

import torch

from seqlab.config import RunSettings
from seqlab.errors import UsageError
from seqlab.models.model import Model
from seqlab.runs.directory import RunDirectory
from seqlab.tasks.task import Task
from seqlab.threads import default_threads
from seqlab.training.loop import EVALUATED_TOKENS, Trainer
from seqlab.training.progress import NullReporter, Reporter

DEFAULT_STEPS = 2500
MOST_EPOCHS = 40  # of a small text, when no budget is given
TIMED_STEPS = 20
DEVICES = ("cpu", "cuda", "mps")


def check_trainable(settings: RunSettings) -> None:
    """UsageError for a device that there is not, or for weights that cannot move, before anything is read."""
    if settings.model.precision != "float32":
        raise UsageError(
            f"weights in {settings.model.precision} are not trained: they are made of a finished run by 'seqlab "
            f"quantize'. Train that run instead, or start from these weights with --init."
        )
    name = settings.train.device
    try:
        known = torch.device(name).type in DEVICES
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError):
        known = False
    if not known:
        raise UsageError(f"train.device is '{name}', which is not to be had here. Use one of {', '.join(DEVICES)}.")


def in_steps(
    directory: RunDirectory, settings: RunSettings, model: Model, task: Task, reporter: Reporter
) -> dict[str, Any]:
    """The budget as a number of steps, and the thread count, as settings to be kept."""
    train = settings.train
    kept = {"train.threads": train.threads or default_threads(), "train.seconds": None, "train.epochs": None}
    epoch = task.epoch / train.accumulate  # in steps
    if train.steps is not None:
        steps = train.steps
    elif train.epochs is not None:
        steps = max(1, round(train.epochs * epoch))
    elif train.seconds is not None:
        step_time, evaluation_time = time_steps(directory, settings, model, task)
        steps = max(TIMED_STEPS, int((train.seconds - 11 * evaluation_time) / step_time))
        timed = f"{TIMED_STEPS} timed steps took {step_time * 1000:.1f} ms each"
        reporter.log(f"{timed}: {train.seconds:g} s are {steps:,} steps")
    else:
        steps = min(DEFAULT_STEPS, max(1, round(MOST_EPOCHS * epoch)))
    return {**kept, "train.steps": steps}


def time_steps(directory: RunDirectory, settings: RunSettings, model: Model, task: Task) -> tuple[float, float]:
    """Seconds of a training step and of an evaluation, measured on a copy so that the run itself starts clean."""
    train = settings.train.model_copy(update={"steps": TIMED_STEPS, "seconds": None})
    trainer = Trainer(directory, train, copy.deepcopy(model), task, NullReporter(), lambda: "")
    trainer.gradients(0)
    began = time.perf_counter()
    for step in range(TIMED_STEPS):
        trainer.gradients(step)
        trainer.optimizer.step()
    middle = time.perf_counter()
    task.validate(trainer.model.eval(), EVALUATED_TOKENS)
    return (middle - began) / TIMED_STEPS, time.perf_counter() - middle
