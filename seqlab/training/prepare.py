"""What comes before the first step: tokenizer, sizes that fit the text, and the budget as a number of steps."""

import copy
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from seqlab.config import RunSettings
from seqlab.errors import DataError, UsageError
from seqlab.models.model import Model
from seqlab.registry import TASKS
from seqlab.runs.layout import RunDirectory
from seqlab.runs.load import load_parts, load_run
from seqlab.tasks.material import ChangedData, Material
from seqlab.tasks.task import Task
from seqlab.text.lexicon import Lexicon
from seqlab.training.loop import EVALUATED_TOKENS, Trainer
from seqlab.training.progress import Reporter, Silent

DEFAULT_STEPS = 2500
MOST_EPOCHS = 40  # of a small text, when no budget is given
TIMED_STEPS = 20
DEVICES = ("cpu", "cuda", "mps")


def make_task(settings: RunSettings, material: Material) -> Any:
    task = TASKS.load(settings.task.name).on(settings, material)
    own: Any = settings.task.settings
    if teacher_of(settings) is not None and own.mix > 0:
        task.teacher = cache(partial(_teacher, own.teacher, settings, material))
    return task


def teacher_of(settings: RunSettings) -> str | None:
    return getattr(settings.task.settings, "teacher", None)


def teacher_at(path: str | Path) -> tuple[RunSettings, Lexicon]:
    """The settings and symbols of a run that can teach."""
    _, _, settings, lexicon = load_parts(Path(path))
    if not TASKS.load(settings.task.name).writes:
        raise UsageError(f"the teacher '{path}' is no language model.")
    return settings, lexicon


def taught_symbols(settings: RunSettings) -> Lexicon | None:
    """Those of the teacher, where there is one: what it doubts must be what the student reads."""
    path = teacher_of(settings)
    if path is None:
        return None
    own, lexicon = teacher_at(path)
    ours, theirs = settings.resolved()["tokenizer"], own.resolved()["tokenizer"]
    if ours != theirs:
        raise UsageError(f"the teacher '{path}' reads symbols of {theirs}, and its student cannot read {ours}.")
    return lexicon


def _teacher(path: str, settings: RunSettings, material: Material) -> Any:
    """The model of a run that reads the same symbols and has not read what is held out; its weights stay."""
    run = load_run(Path(path))
    if run.lexicon.fingerprint != material.lexicon.fingerprint:
        raise UsageError(f"the teacher '{path}' reads other symbols than this run: start anew with its tokenizer.")
    same = run.config["corpus"]["fingerprint"] == material.fingerprint
    before, now = run.settings.corpus.split, settings.corpus.split
    if same and before != now:
        raise UsageError(
            f"the teacher '{path}' has read the {before} split of this text, so it knows what {now} holds out from its "
            f"student. Use --split {before}, or train a teacher on {now}."
        )
    return run.model.to(settings.train.device).requires_grad_(False)


@contextmanager
def computing(threads: int | None) -> Iterator[None]:
    """While entered, so many threads, and numbers below 1e-38 are zero: a processor takes ten times as long over them.

    Gates that a high learning rate has closed for good make plenty of them."""
    threads_before = torch.get_num_threads()
    torch.set_num_threads(threads or default_threads())
    flushed_before = float(torch.tensor(1e-310, dtype=torch.float64) * 1) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed_before)
        torch.set_num_threads(threads_before)


def default_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        reporter.say(f"{timed}: {train.seconds:g} s are {steps:,} steps")
    else:
        steps = min(DEFAULT_STEPS, max(1, round(MOST_EPOCHS * epoch)))
    return {**kept, "train.steps": steps}


def time_steps(directory: RunDirectory, settings: RunSettings, model: Model, task: Task) -> tuple[float, float]:
    """Seconds of a training step and of an evaluation, measured on a copy so that the run itself starts clean."""
    train = settings.train.model_copy(update={"steps": TIMED_STEPS, "seconds": None})
    trainer = Trainer(directory, train, copy.deepcopy(model), task, Silent(), lambda: "")
    trainer.gradients(0)
    began = time.perf_counter()
    for step in range(TIMED_STEPS):
        trainer.gradients(step)
        trainer.optimiser.step()
    middle = time.perf_counter()
    task.glance(trainer.model.eval(), EVALUATED_TOKENS)
    return (middle - began) / TIMED_STEPS, time.perf_counter() - middle


def reopen(directory: RunDirectory, config: dict[str, Any], settings: RunSettings, lexicon: Lexicon) -> Material:
    """The data of a run, if it is still the same."""
    task = TASKS.load(settings.task.name)
    try:
        return task.open(settings, lambda _: None, lexicon, directory.kept_input, config["corpus"]["fingerprint"])
    except ChangedData as found:
        raise DataError(
            f"'{', '.join(settings.corpus.source)}' is no longer the text that '{directory.path}' was trained on: "
            f"it has {found.characters:,} characters, then {config['corpus']['characters']:,}, and another SHA-256. "
            f"Bring the old text back, or start on the new one: seqlab train ... --init {directory.path}"
        ) from None
