"""docs/lessons: rows name a lesson and a command that can be typed; pages and notebooks are up to date."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from seqlab.cli.app import app
from seqlab.lessons.catalog import SECONDS, Lesson, lessons
from seqlab.lessons.files import notebook
from seqlab.lessons.publish import is_current, notebook_file, page_file
from seqlab.recipes import recipes
from seqlab.registry import VIEWS

FOLDER = Path(__file__).parents[2] / "docs" / "lessons"
COMMANDS = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+) \| (.+) \| `(seqlab .+)` \|$", README, flags=re.MULTILINE)
TYPED = [command for _, _, command in ROWS] + re.findall(r"^(seqlab [^#\n]+)", README, flags=re.MULTILINE)
NUMBERS = {name: number for number, name in enumerate(SECONDS, 1)}


def test_all_lessons_are_in_the_tables() -> None:
    named = [lesson for _, lessons, _ in ROWS for lesson in lessons.split(", ")]
    assert {*named} == {f"{number} {name}" for name, number in NUMBERS.items()}
    tables = README.split("### ")[1:]
    assert len(tables) == 5 and all(table.count("\n| ") >= 10 for table in tables)
    assert len(ROWS) == len(re.findall(r"^\| (?!---|in the document)", README, flags=re.MULTILINE))


@pytest.mark.parametrize("command", sorted({*TYPED}))
def test_its_commands_parse(command: str) -> None:
    _, name, *arguments = shlex.split(command)
    COMMANDS[name].make_context(name, [*arguments])
    if "--recipe" in arguments:
        assert arguments[arguments.index("--recipe") + 1] in recipes()
    if "--view" in arguments:
        assert arguments[arguments.index("--view") + 1] in VIEWS
    if name == "learn" and arguments:
        assert arguments[0] in {*NUMBERS, *map(str, NUMBERS.values())}


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_pages_and_notebooks_are_made_from_the_source_as_it_is(lesson: Lesson) -> None:
    assert is_current(FOLDER, lesson), "run `make lessons`"
    assert notebook_file(FOLDER, lesson).read_bytes() == notebook(lesson)
    page = re.sub(r'"data:[^"]*"', '""', page_file(FOLDER, lesson).read_text(encoding="utf-8"))
    assert not re.search(r'(?:src|href)="[^"]|/tmp/', page)


def test_there_is_nothing_else() -> None:
    made = {file(FOLDER, lesson) for lesson in lessons() for file in (page_file, notebook_file)}
    assert {*FOLDER.iterdir()} == {*made, FOLDER / "README.md"}
