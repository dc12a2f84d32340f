"""What a measure gets and what it returns.

A measure is a function `(run, context) -> Measurement`. A show needs no run: `(context) -> Measurement`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.recipes import Writing

if TYPE_CHECKING:
    from seqlab.contracts import Scores
    from seqlab.runs.run import Run
    from seqlab.tasks.task import Task


@dataclass(frozen=True)
class Measurement:
    """Numbers to compute with, text to read, pictures to look at (files in the folder of the context)."""

    data: dict[str, Any]
    text: str
    figures: list[Path] = field(default_factory=list)


@dataclass
class MeasureContext:
    """Where pictures go, how to sample, and which split decides."""

    folder: Path
    writing: Writing = field(default_factory=Writing)
    split: str = "validation"
    _scored: "tuple[Run, Task, Scores] | None" = None

    def scores(self, run: "Run") -> "tuple[Task, Scores]":
        """The run's scores on the deciding split. Several measures share them: a test set can take minutes."""
        if self._scored is None or self._scored[0] is not run:
            task = run.task()
            self._scored = (run, task, task.score(run.model, self.split))
        return self._scored[1:]
