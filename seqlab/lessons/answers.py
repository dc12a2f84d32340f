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

MAX_SECONDS = 60  # for a file and all its checks


@dataclass(frozen=True)
class Verdict:
    """`wrong` says what is wrong with the answer, or why it was not judged; it is empty if the answer is right."""

    exercise: str
    wrong: str
    reached: bool = True

    @property
    def word(self) -> str:
        return "not reached" if not self.reached else "wrong" if self.wrong else "right"


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
        printed, end = _run(command, MAX_SECONDS)
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    wrong = lines[0][1] if lines else f"it {end}."
    if wrong:
        raise DataError(f"'{path}' cannot be run:\n{wrong}")
    verdicts = [Verdict(*line) for line in lines[1:]]
    stopped = len(verdicts) + 1
    for number, name in enumerate(exercise_names(lesson)[len(verdicts) :], stopped):
        reached = number == stopped
        verdicts.append(Verdict(name, f"your answer {end}." if reached else f"exercise {stopped} {end}.", reached))
    return Judged(verdicts, printed)


def _run(command: list[str], seconds: float) -> tuple[str, str]:
    """What the process printed, and how it ended, which matters if it left exercises unjudged."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return done.stdout.decode(errors="replace"), f"ended the process (exit code {done.returncode})"
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode(errors="replace")
        return printed, f"did not end within the {seconds:g} seconds for the file and all checks"
