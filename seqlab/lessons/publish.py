"""The pages and notebooks of docs/lessons: python -m seqlab.lessons.publish FOLDER [NAME ...], or `make lessons`."""

import io
import json
import sys
from pathlib import Path

from seqlab.lessons.catalog import Lesson, find_lesson, lessons
from seqlab.lessons.files import notebook, write_page
from seqlab.lessons.runner import run_lesson
from seqlab.storage import write_atomic


def page_file(folder: Path, lesson: Lesson) -> Path:
    return folder / f"{lesson.number:02d}-{lesson.name}.html"


def notebook_file(folder: Path, lesson: Lesson) -> Path:
    return page_file(folder, lesson).with_suffix(".ipynb")


def is_current(folder: Path, lesson: Lesson) -> bool:
    """Whether page and notebook are there and were made from the source as it is."""
    page, made = page_file(folder, lesson), notebook_file(folder, lesson)
    if not (page.exists() and made.exists()):
        return False
    named = f'<meta name="source" content="{lesson.fingerprint}">'
    source = json.loads(made.read_text(encoding="utf-8"))["metadata"]["seqlab"]["source"]
    return named in page.read_text(encoding="utf-8") and source == lesson.fingerprint


def publish(folder: Path, chosen: list[Lesson]) -> None:
    for lesson in chosen:
        if is_current(folder, lesson):
            continue
        print(f"lesson {lesson.number}, {lesson.name}", file=sys.stderr)  # noqa: T201
        write_page(lesson, list(run_lesson(lesson, io.StringIO())), page_file(folder, lesson))
        write_atomic(notebook_file(folder, lesson), notebook(lesson))


if __name__ == "__main__":
    publish(Path(sys.argv[1]), [find_lesson(name) for name in sys.argv[2:]] or lessons())
