"""A lesson runs cell by cell in one namespace; the value of a cell's last expression is shown, as in a notebook."""

import ast
import io
import types
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from seqlab.errors import SeqlabError
from seqlab.lessons.catalog import Lesson
from seqlab.lessons.cells import LessonCell
from seqlab.threads import compute_threads


@dataclass(frozen=True)
class CellResult:
    """What a cell printed, and the value of its last expression; prose has neither."""

    cell: LessonCell
    printed: str = ""
    value: Any = None

    @property
    def figure(self) -> Any | None:
        """The value, if it is a figure."""
        from matplotlib.figure import Figure

        return self.value if isinstance(self.value, Figure) else None

    @property
    def inspection(self) -> Any | None:
        """The value, if it is what `run.inspect` returned."""
        from seqlab.inspection.inspection import Inspection

        return self.value if isinstance(self.value, Inspection) else None

    @property
    def text(self) -> str:
        """What was printed, and the value if it is neither a figure nor an inspection."""
        if self.value is None or self.figure is not None or self.inspection is not None:
            return self.printed
        return self.printed + (self.value if isinstance(self.value, str) else repr(self.value))


class LessonError(Exception):
    """A lesson does not run, or measures something else than it says: a fault of the lesson, not of its reader."""


def run_lesson(lesson: Lesson, stderr: TextIO) -> Iterator[CellResult]:
    """Run cell after cell in an empty folder; what they write to the standard error goes to `stderr`.

    On one thread, since a second one would only wait: what lessons compute themselves is small."""
    module = types.ModuleType(f"lesson_{lesson.name}")
    with TemporaryDirectory() as folder, compute_threads(1):
        for number, cell in enumerate(lesson.cells, 1):
            if cell.is_prose:
                yield CellResult(cell)
                continue
            printed = io.StringIO()
            try:
                with chdir(folder), redirect_stdout(printed), redirect_stderr(stderr):
                    value = _execute(cell, str(lesson.path), module.__dict__)
            except SeqlabError:
                raise
            except Exception as error:
                place = f"lesson {lesson.number} ({lesson.name}), cell {number}, from line {cell.line}"
                what = "does not measure what it says" if isinstance(error, AssertionError) else "does not run"
                raise LessonError(f"{place} {what}: {type(error).__name__} {error}") from error
            yield CellResult(cell, printed.getvalue(), value)


def _execute(cell: LessonCell, path: str, namespace: dict[str, Any]) -> Any:
    """The value of the last statement if that is an expression, otherwise None."""
    tree = ast.parse(cell.source, path)
    ast.increment_lineno(tree, cell.line - 1)  # for tracebacks
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, path, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), path, "eval"), namespace) if isinstance(last, ast.Expr) else None
