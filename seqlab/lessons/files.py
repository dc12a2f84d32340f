"""Pages and notebooks as files: what is not ours is never overwritten."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqlab.errors import UsageError
from seqlab.lessons.catalog import Lesson
from seqlab.lessons.page import GENERATOR, lesson_page
from seqlab.lessons.runner import CellResult
from seqlab.storage import write_atomic

OURS = f'<meta name="generator" content="{GENERATOR}">'


def refuse_foreign(path: Path) -> None:
    """UsageError for a path that is no page's, or where something lies that is not the page of a lesson."""
    if path.suffix.lower() != ".html":
        raise UsageError(f"'{path}' is no page: expected a file name that ends in .html.")
    if path.is_dir() or (path.exists() and OURS.encode() not in path.read_bytes()[:4096]):
        raise UsageError(f"'{path}' exists and is not the page of a lesson: choose another file with --out.")


def write_page(lesson: Lesson, results: Sequence[CellResult], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, lesson_page(lesson, results).encode())


def write_notebook(lesson: Lesson, path: Path) -> None:
    """A new notebook without outputs; one that exists may contain somebody's work."""
    if path.suffix.lower() != ".ipynb":
        raise UsageError(f"'{path}' is no notebook: expected a file name that ends in .ipynb.")
    if path.exists():
        raise UsageError(f"'{path}' exists and may contain your work: choose another file.")
    content = notebook(lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content)


def notebook(lesson: Lesson) -> bytes:
    """The same bytes for the same source."""
    try:
        import jupytext
    except ImportError:
        raise UsageError(
            "notebooks are written by jupytext, which is not installed: pip install 'seqlab[notebooks]'."
        ) from None
    made: Any = jupytext.reads(lesson.source, fmt="py:percent")
    for number, cell in enumerate(made.cells, 1):
        cell["id"] = f"cell-{number}"  # jupytext draws them at random
    made.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "seqlab": {"lesson": lesson.name, "source": lesson.fingerprint},
    }
    return (json.dumps(made, indent=1, ensure_ascii=False) + "\n").encode()
