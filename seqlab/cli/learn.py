"""seqlab learn: lessons that run, with exercises that are checked."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

if TYPE_CHECKING:
    from seqlab.lessons.catalog import Lesson

EXAMPLES = ("seqlab learn", "seqlab learn 3", "seqlab learn 3 --check answer.py")


def _names() -> list[str]:
    from seqlab.lessons.catalog import lessons

    return [lesson.name for lesson in lessons()]


def learn(
    lesson: Annotated[
        str | None, Argument(help="Number or name of a lesson; all are listed if not given.", autocompletion=_names)
    ] = None,
    out: Annotated[Path | None, Option(help="The page to write; lesson-NUMBER.html if not given.")] = None,
    exercises: Annotated[bool, Option("--exercises", help="Show the exercises and nothing else.")] = False,
    check: Annotated[Path | None, Option(help="Check the answers in a Python file.")] = None,
    solution: Annotated[bool, Option("--solution", help="Print the model answers.")] = False,
    notebook: Annotated[Path | None, Option(help="Write the lesson as a notebook (.ipynb).")] = None,
) -> None:
    """Run a lesson on sequence models: a question, measurements, pictures, and exercises that are checked."""
    from seqlab.errors import UsageError, refuse_given

    actions = {
        "--exercises": exercises or None,
        "--check": check,
        "--solution": solution or None,
        "--notebook": notebook,
    }
    given = [name for name, value in actions.items() if value is not None]
    if lesson is None:
        refuse_given({"--out": out, **actions}, "without a lesson")
        _list()
        return
    from seqlab.lessons.catalog import find_lesson

    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are different things to do: give one of them.")
    chosen = find_lesson(lesson)
    if given:
        refuse_given({"--out": out}, f"beside {given[0]}")
    if exercises:
        _exercises(chosen)
    elif check is not None:
        _check(chosen, check)
    elif solution:
        _solution(chosen)
    elif notebook is not None:
        _notebook(chosen, notebook)
    else:
        _run(chosen, out or Path(f"lesson-{chosen.number}.html"))


def _list() -> None:
    from seqlab.cli.show import next_steps, table
    from seqlab.lessons.catalog import lessons

    rows = [[lesson.number, lesson.name, lesson.title, lesson.question, lesson.seconds] for lesson in lessons()]
    table("", ["", "name", "lesson", "question", "seconds"], rows, texts=4)
    next_steps("seqlab learn 1")


def _run(lesson: "Lesson", out: Path) -> None:
    from seqlab.cli.show import console, next_steps
    from seqlab.lessons.files import refuse_foreign, write_page
    from seqlab.lessons.terminal import show_lesson
    from seqlab.terminal import SafeConsole

    refuse_foreign(out)
    results = show_lesson(lesson, out, console, SafeConsole(file=sys.stderr))
    write_page(lesson, results, out)
    console.print(f"Written: {out}", markup=False)
    next_steps(f"seqlab learn {lesson.number} --check answer.py")


def _exercises(lesson: "Lesson") -> None:
    from rich.markdown import Markdown

    from seqlab.cli.show import console, next_steps

    console.print(Markdown(lesson.exercises))
    next_steps(f"seqlab learn {lesson.number} --check answer.py")


def _check(lesson: "Lesson", path: Path) -> None:
    from seqlab.cli.show import console
    from seqlab.lessons.answers import check_answers

    judged = check_answers(lesson, path)
    if judged.printed:
        console.print(judged.printed.rstrip("\n"), markup=False, style="dim")
    for number, verdict in enumerate(judged.verdicts, 1):
        console.print(f"{number}. {verdict.word}: {verdict.exercise}", markup=False)
        if verdict.wrong:
            console.print("   " + verdict.wrong.replace("\n", "\n   "), markup=False, soft_wrap=True)
    right = sum(not verdict.wrong for verdict in judged.verdicts)
    console.print(f"{right} of {len(judged.verdicts)} right", markup=False)
    if not judged.passed:
        raise Exit(1)


def _solution(lesson: "Lesson") -> None:
    import typer

    typer.echo(lesson.solution.read_text(encoding="utf-8"), nl=False)


def _notebook(lesson: "Lesson", path: Path) -> None:
    from seqlab.cli.show import console
    from seqlab.lessons.files import write_notebook

    write_notebook(lesson, path)
    console.print(f"Written: {path}", markup=False)
