"""A learner's answers, judged in a process of their own that may not take forever."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from seqlab.errors import DataError, MissingInput
from seqlab.lessons.catalog import Lesson
from seqlab.lessons.check_process import check_functions, load_file

MAX_SECONDS = 120  # for a file and all its checks


@dataclass(frozen=True)
class Verdict:
    """`wrong` says what is wrong with the answer; it is empty if nothing is."""

    exercise: str
    wrong: str


@dataclass(frozen=True)
class Judged:
    verdicts: list[Verdict]
    printed: str  # by the learner's file

    @property
    def passed(self) -> bool:
        return not any(verdict.wrong for verdict in self.verdicts)


def exercise_names(lesson: Lesson) -> list[str]:
    return [str(check.__doc__) for check in check_functions(load_file(lesson.checks, f"checks_{lesson.name}"))]


def check_answers(lesson: Lesson, path: Path) -> Judged:
    """One verdict for each exercise. DataError with the learner's own traceback if the file cannot be run."""
    if not path.is_file():
        raise MissingInput(
            f"'{path}' is no file: write your answers into one; `seqlab learn {lesson.number} --exercises` says what "
            "it has to define."
        )
    with TemporaryDirectory() as folder:
        results = Path(folder, "results.jsonl")
        results.touch()
        files = [str(lesson.checks), str(path), str(results)]
        command = [sys.executable, "-P", "-X", "utf8", "-m", "seqlab.lessons.check_process", *files]
        printed, missing = _run(command, MAX_SECONDS)
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    if lines and lines[0][0] is None:
        raise DataError(f"'{path}' cannot be run:\n{lines[0][1]}")
    verdicts = [Verdict(*line) for line in lines]
    unreached = exercise_names(lesson)[len(lines) :]
    return Judged(verdicts + [Verdict(name, missing) for name in unreached], printed)


def _run(command: list[str], seconds: float) -> tuple[str, str]:
    """What the process printed, and why it may have left exercises unjudged."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return done.stdout.decode(errors="replace"), f"your file ended the process (exit code {done.returncode})."
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode(errors="replace")
        return printed, f"it took longer than {seconds:g} seconds, which is the limit for the file and all checks."
