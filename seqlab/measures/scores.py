"""Further scores of a finished run: its test part; its validation part when nothing is forgotten between windows."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from seqlab.measures.measurement import Measurement
from seqlab.metrics.descriptions import describe
from seqlab.recipes import Writing
from seqlab.runs.reopen import make_task

if TYPE_CHECKING:
    from seqlab.contracts import Scores
    from seqlab.runs.run import Run
    from seqlab.tasks.dataset import Dataset
    from seqlab.tasks.task import Task


@lru_cache(maxsize=1)  # several measures are of the same scores, and a test part can take minutes
def scored(run: "Run") -> "tuple[Dataset, Task, str, Scores]":
    """The test part, else the validation part."""
    dataset = run.dataset()
    task = make_task(run.settings, dataset)
    part = "test" if "test" in task.splits else "validation"
    return dataset, task, part, task.score(run.model, part)


def test(run: "Run", folder: Path, writing: Writing) -> Measurement:
    """How well it does, with the sums of every unit: intervals need nothing but records."""
    dataset, task, part, scores = scored(run)
    units = task.unit_sums(scores)
    baselines = task.score_baselines(dataset, part, units)
    figures = task.metrics(scores)
    shown = ", ".join(f"{describe(key).label} {describe(key).format(value)}" for key, value in figures.items())
    data = {
        "part": part,
        "figures": figures,
        "metric": task.metric.key,
        "sums": units.sums_UK.tolist(),
        "baselines": {baseline.name: baseline.value for baseline in baselines},
        "signature": task.signature,
    }
    return Measurement(data, shown + (f"; {task.signature}" if task.signature else ""))


def carried(run: "Run", folder: Path, writing: Writing) -> Measurement:
    """The state carried through the whole part; for attention, windows that overlap by half."""
    result = run.evaluate(mode="carry").likelihood
    data = {"nats_per_token": result.nats_per_token, "bits_per_char": result.bits_per_char}
    return Measurement(
        data, f"{result.nats_per_token:.4f} nats per token, {result.bits_per_char:.4f} bits per character"
    )
