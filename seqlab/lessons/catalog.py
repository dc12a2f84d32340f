"""The lessons in their order, and what each file of a lesson says about it."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from seqlab.errors import UsageError
from seqlab.lessons.cells import LessonCell, read_cells
from seqlab.registry import did_you_mean

COURSE = Path(__file__).parent / "course"
# in the order of the course: about how many seconds each takes on one core
SECONDS = {
    "window": 6,
    "recurrence": 5,
    "vanishing_gradients": 10,
    "lstm": 5,
    "gru": 9,
    "encoder_decoder": 30,
    "attention": 10,
    "scaling": 10,
    "self_attention": 5,
    "heads": 20,
    "positions": 20,
    "masks": 12,
    "bidirectional_encoders": 12,
    "decoding": 15,
    "exposure_bias": 25,
    "tokenizers": 20,
    "embeddings": 15,
    "comparison": 40,
}
EXERCISES = "## Exercises"


@dataclass(frozen=True)
class Lesson:
    number: int
    name: str

    @property
    def path(self) -> Path:
        return COURSE / self.name / "lesson.py"

    @property
    def checks(self) -> Path:
        return COURSE / self.name / "checks.py"

    @property
    def solution(self) -> Path:
        return COURSE / self.name / "solution.py"

    @property
    def seconds(self) -> int:
        return SECONDS[self.name]

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def fingerprint(self) -> str:
        """Of the source: a page or notebook that has another one is out of date."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    @cached_property
    def cells(self) -> list[LessonCell]:
        return read_cells(self.source)

    @property
    def title(self) -> str:
        return self.cells[0].source.split("\n")[0].removeprefix("# ")

    @property
    def question(self) -> str:
        return " ".join(self.cells[0].source.split("\n\n")[1].split())

    @property
    def exercises(self) -> str:
        """The text that sets them, from its heading to the end of the cell."""
        (text,) = [cell.source for cell in self.cells if cell.is_prose and EXERCISES in cell.source]
        return text[text.index(EXERCISES) :]


def lessons() -> list[Lesson]:
    return [Lesson(number, name) for number, name in enumerate(SECONDS, 1)]


def find_lesson(given: str) -> Lesson:
    """By number or name. UsageError if there is none."""
    known = {lesson.name: lesson for lesson in lessons()}
    for lesson in known.values():
        if given in (lesson.name, str(lesson.number)):
            return lesson
    raise UsageError(
        f"there is no lesson '{given}'{did_you_mean(given, [*known])}. `seqlab learn` lists them: give a number "
        f"from 1 to {len(SECONDS)} or a name."
    )
