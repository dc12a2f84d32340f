"""Further scores of a finished run: its test part; its validation part when nothing is forgotten between windows."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from seqlab.metrics.words import HEADS, figure
from seqlab.recipes import Writing
from seqlab.studies.shown import Shown
from seqlab.training.prepare import make_task

if TYPE_CHECKING:
    from seqlab.api import Run
    from seqlab.contracts import Scores
    from seqlab.tasks.material import Material
    from seqlab.tasks.task import Task


@lru_cache(maxsize=1)  # several measures are of the same scores, and a test part can take minutes
def scored(run: "Run") -> "tuple[Material, Task, str, Scores]":
    """The test part, else the validation part."""
    material = run.material()
    task = make_task(run.settings, material)
    part = "test" if "test" in task.parts else "validation"
    return material, task, part, task.score(run.model, part)


def test(run: "Run", folder: Path, writing: Writing) -> Shown:
    """How well it does, with the sums of every unit: intervals need nothing but records."""
    material, task, part, scores = scored(run)
    units = task.units(scores)
    floors = task.floors_on(material, part, units)
    figures = task.figures(scores)
    shown = ", ".join(f"{HEADS.get(name, name)} {figure(name, value)}" for name, value in figures.items())
    data = {
        "part": part,
        "figures": figures,
        "metric": task.metric.name,
        "sums": units[0].tolist(),
        "floors": {floor.name: floor.value for floor in floors},
        "signature": task.signature,
    }
    return Shown(data, shown + (f"; {task.signature}" if task.signature else ""))


def carried(run: "Run", folder: Path, writing: Writing) -> Shown:
    """The state carried through the whole part; for attention, windows that overlap by half."""
    result = run.evaluate(context="carry").likelihood
    data = {"nats_per_token": result.nats_per_token, "bits_per_char": result.bits_per_char}
    return Shown(data, f"{result.nats_per_token:.4f} nats per token, {result.bits_per_char:.4f} bits per character")
