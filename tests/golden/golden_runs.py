"""Trains golden cases through the public interface. Every name of seqlab that the golden tests use is in this file."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import seqlab
from seqlab.errors import UsageError
from seqlab.registry import BACKBONES, TASKS
from seqlab.training.progress import Reporter

ARCHITECTURES, TASK_NAMES = BACKBONES.builtin(), TASKS.builtin()
LOSSES = Path(__file__).with_name("losses.json")
# relative: in every CPU mode the losses agree to 4e-7, and rounding to six digits costs up to 5e-6
TOLERANCE = 3e-5


class Enough(Exception):
    """Ends training from within."""


class Listener(Reporter):
    """In place of a progress bar: keeps the training losses, and ends the run after so many steps."""

    def __init__(self, steps: int):
        self.steps = steps
        self.losses: list[float] = []

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        self.losses.append(loss)
        if len(self.losses) == self.steps:
            raise Enough


def train(source: Path, settings: Mapping[str, Any], steps: int, out: Path, **changes: Any) -> list[float]:
    """The losses of the first steps. Nothing after them is computed: no last evaluation, no results."""
    listener = Listener(steps)
    try:
        seqlab.train(source, out=out, settings=settings, reporter=listener, **changes)
    except Enough:
        return listener.losses
    # a short record would agree with a short run
    raise AssertionError(f"training ended after {len(listener.losses)} steps, before the {steps} that are compared")


def losses_of(case: Any, file: tuple[str, str], steps: int, **changes: Any) -> list[float]:
    """The training losses of a golden case, with one-word changes, on a file, given as its name and content."""
    with tempfile.TemporaryDirectory() as folder:
        source, settings = _written(file, folder), dict(case.settings)
        if "task.batch_tokens" in settings:  # which replaces the number of examples that all cases share
            del settings["task.batch_size"]
        if case.teacher is not None:  # evaluated once on the way, so that there are weights to teach with
            taught = {**case.teacher, "train.evaluate_every": 10}
            train(source, taught, 11, Path(folder) / "teacher")
            settings["task.teacher"] = str(Path(folder) / "teacher")
        return train(source, settings, steps, Path(folder) / "run", **changes)


def can_do(arch: str, task: str, file: tuple[str, str]) -> bool:
    """Whether an architecture trains on a task without any option being set."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            train(_written(file, folder), {"backbone.name": arch, "task.name": task}, 1, Path(folder) / "run")
        except UsageError:
            return False
        return True


def _written(file: tuple[str, str], folder: str) -> Path:
    path = Path(folder) / file[0]
    path.write_text(file[1], encoding="utf-8")
    return path


def measured_as(patch: Any, speed: float) -> None:
    """Whatever this machine does, bf16 is so many times as fast as float32."""
    patch.setattr("seqlab.training.precision.bf16_speed", lambda *_: speed)


def recorded() -> dict[str, list[float]]:
    return json.loads(LOSSES.read_text(encoding="utf-8")) if LOSSES.exists() else {}


def differences(losses: Sequence[float], expected: Sequence[float]) -> list[float]:
    """Relative to what is expected, step by step."""
    return [abs(loss - right) / abs(right) for loss, right in zip(losses, expected, strict=True)]
