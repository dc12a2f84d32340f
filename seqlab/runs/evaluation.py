"""Scoring a finished run on its own data, or on other files of the same kind."""

from collections.abc import Sequence
from pathlib import Path

from seqlab.contracts import Scores
from seqlab.errors import UsageError
from seqlab.registry import TASKS
from seqlab.runs.load import LoadedRun
from seqlab.runs.reopen import make_task, reopen
from seqlab.tasks.dataset import Dataset
from seqlab.tasks.task import Task


def evaluate(
    run: LoadedRun, text: str | Path | Sequence[str | Path] | None, split: str, mode: str | None
) -> tuple[Task, Scores]:
    """The task on the data, and the scores."""
    task_class = TASKS.load(run.settings.task.name)
    if mode is not None and mode not in task_class.modes:
        raise UsageError(f"unknown mode '{mode}': expected {' or '.join(task_class.modes)}.")
    if text is not None:
        source = [text] if isinstance(text, str | Path) else text
        dataset = task_class.open_unsplit(tuple(str(item) for item in source), run.settings, run.vocabulary)
        split = "whole"
    else:
        dataset = own_dataset(run)
    task = make_task(run.settings, dataset)
    if split not in task.splits:
        raise UsageError(f"this run has no '{split}' split: its data was split into {', '.join(task.splits)}.")
    return task, task.score(run.model, split, mode)


def known_lines(run: LoadedRun, texts: Sequence[str]) -> list[bool]:
    """Which of these lines are in the training split."""
    queries = set(texts)
    known = {line for line in own_dataset(run).data.lines("train") if line in queries}
    return [text in known for text in texts]


def own_dataset(run: LoadedRun) -> Dataset:
    """The data that a run was trained on; DataError if it has changed."""
    return reopen(run.directory, run.config, run.settings, run.vocabulary)
