"""A finished run on data: its own held-out part, or other files of the same kind."""

from collections.abc import Sequence
from pathlib import Path

from seqlab.contracts import Scores
from seqlab.errors import UsageError
from seqlab.registry import TASKS
from seqlab.runs.load import Loaded
from seqlab.tasks.material import Material
from seqlab.tasks.task import Task
from seqlab.training.prepare import make_task, reopen


def evaluate(
    run: Loaded, text: str | Path | Sequence[str | Path] | None, split: str, context: str | None
) -> tuple[Task, Scores]:
    """The task on that data, and the scores."""
    task_class = TASKS.load(run.settings.task.name)
    if context is not None and context not in task_class.contexts:
        raise UsageError(f"unknown context '{context}': expected {' or '.join(task_class.contexts)}.")
    if text is not None:
        source = [text] if isinstance(text, str | Path) else text
        material = task_class.open_whole(tuple(str(item) for item in source), run.settings, run.lexicon)
        split = "whole"
    else:
        material = own_material(run)
    task = make_task(run.settings, material)
    if split not in task.parts:
        raise UsageError(f"this run has no '{split}' part: its text was split into {', '.join(task.parts)}.")
    return task, task.score(run.model, split, context)


def known_lines(run: Loaded, texts: Sequence[str]) -> list[bool]:
    """Which of these lines stand in the training part of the run's corpus."""
    wanted = set(texts)
    found = {line for line in own_material(run).data.lines("train") if line in wanted}
    return [text in found for text in texts]


def own_material(run: Loaded) -> Material:
    """The data that a run was trained on, if it is still the same."""
    return reopen(run.directory, run.config, run.settings, run.lexicon)
