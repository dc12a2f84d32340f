"""Before the first step: check that the settings can be trained, and turn the budget into a number of steps."""

from typing import Any

import torch

from seqlab.config import RunSettings, TrainSettings
from seqlab.config.sections import MOST
from seqlab.errors import UsageError
from seqlab.models.model import Model
from seqlab.tasks.task import Task
from seqlab.threads import default_threads
from seqlab.training.evaluations import evaluation_interval, steps_within
from seqlab.training.optimization import PLATEAU_PATIENCE, warmup_steps
from seqlab.training.progress import Reporter
from seqlab.training.timing import TIMED_STEPS, time_training
from seqlab.wording import counted

DEFAULT_STEPS = 2500
MAX_EPOCHS = 40  # passes over small data if no budget is given
LEAST_STEPS = 1000  # a text of some thousand words needs more passes, and dropout
PATIENCE = 3  # evaluations of a text without a better loss, if no budget is given
DEVICES = ("cpu", "cuda", "mps")


def check_trainable(settings: RunSettings) -> None:
    """Raise UsageError for a missing device and for int8 weights, before any data is read."""
    if settings.model.precision != "float32":
        raise UsageError(
            f"weights in {settings.model.precision} cannot be trained: 'seqlab quantize' made them from a finished "
            f"run. Train that run instead, or start from these weights with --init."
        )
    name = settings.train.device
    try:
        known = torch.device(name).type in DEVICES
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError):
        known = False
    if not known:
        raise UsageError(
            f"train.device is '{name}', which is not available on this machine. Use one of {', '.join(DEVICES)}."
        )


def budget_in_steps(settings: RunSettings, model: Model, task: Task, reporter: Reporter) -> dict[str, Any]:
    """The budget as a number of steps, and the number of threads, as settings to be stored with the run.

    Without a budget, training on a text also stops early."""
    train = settings.train
    fixed: dict[str, Any] = {
        "train.threads": train.threads or default_threads(),
        "train.seconds": train.seconds if train.replan else None,
        "train.epochs": None,
    }
    epoch = task.steps_per_epoch / train.accumulate  # in steps
    if train.steps is not None:
        steps = train.steps
    elif train.epochs is not None:
        steps = max(1, round(train.epochs * epoch))
    elif train.seconds is not None:
        timing = time_training(model, task, train)
        fitting = steps_within(train.seconds, train, timing.step_seconds, timing.evaluation_seconds)
        most = steps_of_max_epochs(train, task)
        steps = min(max(TIMED_STEPS, fitting), most)
        milliseconds = f"{timing.step_seconds * 1000:.1f} ms"
        taken = f"{train.seconds:g} s are {steps:,} steps"
        if steps == most:
            taken = f"{train.seconds:g} s are {fitting:,} steps, of which {train.max_epochs:g} epochs take {most:,}"
        elif fitting < TIMED_STEPS:
            taken = f"{train.seconds:g} s are too few for {TIMED_STEPS} steps, the least, which take longer"
        reporter.log(f"a step takes {milliseconds} ({TIMED_STEPS} timed): {taken}")
    else:
        steps = min(DEFAULT_STEPS, most_steps(settings, epoch))
        if settings.task.settings.examples is None:
            fixed["train.patience"] = train.patience or PATIENCE
    return {**fixed, "train.steps": steps}


def steps_of_max_epochs(train: TrainSettings, task: Task) -> int:
    """The most steps that a budget in seconds may become."""
    return (
        MOST if train.max_epochs is None else max(1, round(train.max_epochs * task.steps_per_epoch / train.accumulate))
    )


def budget_notes(train: TrainSettings, epoch_steps: float) -> list[str]:
    """Settings that this number of steps is too short for; the default warmup is shortened without a word."""
    steps = train.steps or 1
    evaluations = -(-steps // evaluation_interval(train, steps))
    warmup, notes = warmup_steps(train, steps), []
    if warmup < train.warmup != TrainSettings.model_fields["warmup"].default:
        notes.append(f"train.warmup is {train.warmup:,}: {warmup:,} are used, a fifth of {counted(steps, 'step')}")
    made = f"the run makes {counted(evaluations, 'evaluation')} (--evaluate-every)"
    if train.patience is not None and train.patience >= evaluations:
        notes.append(f"train.patience is {train.patience:,} and stops nothing: {made}")
    if train.average_checkpoints > evaluations:
        notes.append(f"train.average_checkpoints is {train.average_checkpoints:,}: {made}, which are averaged")
    at_peak = f"train.schedule is {train.schedule} and never lowers the learning rate"
    if (
        train.schedule == "plateau" and evaluations < PLATEAU_PATIENCE + 2
    ):  # the first is the best; after the last, none
        notes.append(f"{at_peak}, which takes {PLATEAU_PATIENCE + 2} evaluations: {made}")
    if train.schedule == "decay" and steps <= train.decay_after * epoch_steps:
        notes.append(
            f"{at_peak}: train.decay_after is {counted(train.decay_after, 'epoch')}, and the run makes "
            f"{steps / epoch_steps:.1f}"
        )
    return notes


def most_steps(settings: RunSettings, steps_per_epoch: float) -> int:
    """As many steps as make sense on small data; more would only memorize it."""
    least = LEAST_STEPS if settings.task.settings.examples is None else 1
    return max(least, round(MAX_EPOCHS * steps_per_epoch))
