"""seqlab learn, on a course of one small lesson."""

import json
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import nbformat
import pytest

from seqlab.lessons import answers, catalog
from seqlab.lessons.runner import LessonError

pytestmark = pytest.mark.filterwarnings("default::seqlab.errors.SeqlabWarning")  # the lesson gives one
LESSON = """\
# %% [markdown]
# # Sums
#
# What is a sum?
#
# A **sum** of <b>two</b> numbers. Here it is 5.

# %%
import sys
import warnings

from seqlab.errors import SeqlabWarning
from seqlab.plotting import new_figure

print("two and three")
print("step", "1/2", file=sys.stderr)
warnings.warn("sums are small", SeqlabWarning, stacklevel=1)
total = 2 + 3
assert total == 5
[total, "<i>"]

# %%
figure = new_figure(3, 2)
axes = figure.subplots()
axes.plot([1, 2, 3])
axes.set_title("Numbers that rise")
figure

# %% [markdown]
# ## Exercises
#
# 1. `add(a, b)`: the sum.
# 2. `double(a)`: twice the number.
"""
CHECKS = '''\
"""Checks."""


def check_add(answer):
    """The sum of two numbers"""
    assert answer.add(2, 3) == 2 + 3, f"your add(2, 3) returned {answer.add(2, 3)}; expected {2 + 3}."


def check_double(answer):
    """Twice a number"""
    assert answer.double(4) == 4 * 2, f"your double(4) returned {answer.double(4)}; expected {4 * 2}."
'''
SOLUTION = '"""Answers."""\n\n\ndef add(a, b):\n    return a + b\n\n\ndef double(a):\n    return 2 * a\n'


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of its lesson; commands run in an empty one beside it."""
    folder, empty = tmp_path / "course" / "sums", tmp_path / "here"
    folder.mkdir(parents=True)
    empty.mkdir()
    for name, content in {"lesson.py": LESSON, "checks.py": CHECKS, "solution.py": SOLUTION}.items():
        (folder / name).write_text(content, encoding="utf-8")
    monkeypatch.setattr(catalog, "COURSE", folder.parent)
    monkeypatch.setattr(catalog, "SECONDS", {"sums": 4})
    monkeypatch.chdir(empty)
    return folder


def test_lessons_are_listed(seqlab: Any, course: Path) -> None:
    answer = seqlab("learn")
    assert answer.code == 0
    (row,) = [line for line in answer.out.splitlines() if "sums" in line]
    assert re.split(r"\s{2,}", row.strip()) == ["1", "sums", "Sums", "What is a sum?", "4"]
    assert "seqlab learn 1" in answer.out


@pytest.mark.parametrize("name", ["1", "sums"])
def test_a_lesson_runs_and_writes_its_page(seqlab: Any, course: Path, name: str) -> None:
    answer = seqlab("learn", name)
    assert answer.code == 0
    shown = ("What is a sum?", "total = 2 + 3", "two and three", "[5, '<i>']", "note: sums are small")
    assert all(words in answer.out for words in shown)
    assert "[picture: Numbers that rise; see lesson-1.html]" in answer.out and "Written: lesson-1.html" in answer.out
    assert "step 1/2" not in answer.out
    page = Path("lesson-1.html").read_text(encoding="utf-8")
    assert '<meta name="generator" content="seqlab learn">' in page
    assert "<strong>sum</strong> of &lt;b&gt;two" in page and "[5, &#39;&lt;i&gt;&#39;]" in page
    assert 'alt="Numbers that rise"' in page and "data:image/svg+xml" in page
    assert "<iframe" not in page and "<script" not in page
    assert not re.search(r'(?:src|href)="(?!data:)', page) and len(page) < 100_000
    assert [path.name for path in Path().iterdir()] == ["lesson-1.html"]


def test_a_page_may_be_written_again_but_nothing_else_is_overwritten(seqlab: Any, course: Path) -> None:
    for _ in range(2):
        assert seqlab("learn", "1", "--out", "own/page.html").code == 0
    Path("mine.html").write_text("<p>my own</p>", encoding="utf-8")
    answer = seqlab("learn", "1", "--out", "mine.html")
    assert answer.code == 2 and "'mine.html' exists and is not the page of a lesson" in answer.err
    assert "two and three" not in answer.out and Path("mine.html").read_text(encoding="utf-8") == "<p>my own</p>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--solution"], "--solution does nothing without a lesson"),
        (["--out", "a.html"], "--out does nothing without a lesson"),
        (["7"], "there is no lesson '7'"),
        (["sum"], "did you mean 'sums'?"),
        (["1", "--out", "a.txt"], "'a.txt' is no page"),
        (["1", "--exercises", "--solution"], "--exercises and --solution are different things to do"),
        (["1", "--check", "a.py", "--out", "a.html"], "--out does nothing beside --check"),
        (["1", "--notebook", "a.py"], "'a.py' is no notebook"),
    ],
)
def test_what_does_not_apply_is_refused(seqlab: Any, course: Path, options: list[str], message: str) -> None:
    answer = seqlab("learn", *options)
    assert answer.code == 2 and message in answer.err
    assert not list(Path().iterdir())


def test_a_lesson_that_does_not_measure_what_it_says_is_our_fault(seqlab: Any, course: Path) -> None:
    (course / "lesson.py").write_text(LESSON.replace("total == 5", "total == 6"), encoding="utf-8")
    with pytest.raises(LessonError, match=r"lesson 1 \(sums\), cell 2, from line 9 does not measure what it says"):
        seqlab("learn", "1")
    (course / "lesson.py").write_text(LESSON.replace("total = 2 + 3", "total = 2 / 0"), encoding="utf-8")
    with pytest.raises(LessonError, match="cell 2, from line 9 does not run: ZeroDivisionError") as failed:
        seqlab("learn", "1")
    assert failed.value.__cause__ is not None
    last = traceback.extract_tb(failed.value.__cause__.__traceback__)[-1]
    assert (last.filename, last.line) == (str(course / "lesson.py"), "total = 2 / 0")


def test_exercises_and_solutions_are_shown_without_running(seqlab: Any, course: Path) -> None:
    answer = seqlab("learn", "1", "--exercises")
    assert answer.code == 0 and "add(a, b): the sum." in answer.out and "What is a sum?" not in answer.out
    assert seqlab("learn", "1", "--solution").out == SOLUTION


def test_right_answers(seqlab: Any, course: Path) -> None:
    Path("answer.py").write_text("print('loaded')\n" + SOLUTION, encoding="utf-8")
    answer = seqlab("learn", "1", "--check", "answer.py")
    assert answer.code == 0 and "2 of 2 right" in answer.out and "loaded" in answer.out
    assert "1. right: The sum of two numbers" in answer.out


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("def add(a, b):\n    return a - b", ["1. wrong: The sum", "your add(2, 3) returned -1; expected 5."]),
        ("def add(a, b):\n    return a + b", ["1. right", "2. wrong", "answer.py does not define 'double'."]),
        ("def add(a, b):\n    return a.total", ["line 2, in add", "AttributeError: 'int' object has no attribute"]),
        ("def add(a, b):\n    exit(3)", ["line 2, in add", "SystemExit: 3", "0 of 2 right"]),
        ("import os\ndef add(a, b):\n    os._exit(3)", ["your answer ended the process (exit code 3)", "0 of 2 right"]),
    ],
)
def test_wrong_answers(seqlab: Any, course: Path, content: str, told: list[str]) -> None:
    Path("answer.py").write_text(content + "\n", encoding="utf-8")
    answer = seqlab("learn", "1", "--check", "answer.py")
    assert answer.code == 1 and not answer.err
    assert all(words in answer.out for words in told) and "check_process" not in answer.out


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("def add(a, b)\n    return a", ["line 1", "def add(a, b)", "SyntaxError: expected ':'"]),
        ("x = 1\nx / 0", ["line 2, in <module>", "ZeroDivisionError"]),
        ("exit(3)", ["SystemExit: 3"]),
        ("import os\nos._exit(3)", ["it ended the process (exit code 3)."]),
    ],
)
def test_a_file_that_does_not_run(seqlab: Any, course: Path, content: str, told: list[str]) -> None:
    Path("answer.py").write_text(content + "\n", encoding="utf-8")
    answer = seqlab("learn", "1", "--check", "answer.py")
    assert answer.code == 65 and "'answer.py' cannot be run:" in answer.err
    assert all(words in answer.err for words in told)
    assert "check_process" not in answer.err and "importlib" not in answer.err


def test_an_answer_that_never_ends(seqlab: Any, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_SECONDS", 2)
    Path("answer.py").write_text("def add(a, b):\n    while True:\n        pass\n", encoding="utf-8")
    answer = seqlab("learn", "1", "--check", "answer.py")
    assert answer.code == 1 and "0 of 2 right" in answer.out
    assert "1. wrong: The sum of two numbers\n   your answer did not end within the 2 seconds" in answer.out
    assert "2. not reached: Twice a number\n   exercise 1 did not end" in answer.out


def test_a_file_that_never_ends(seqlab: Any, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_SECONDS", 1)
    Path("answer.py").write_text("while True:\n    pass\n", encoding="utf-8")
    answer = seqlab("learn", "1", "--check", "answer.py")
    assert answer.code == 65 and "'answer.py' cannot be run:\nit did not end within the 1 seconds" in answer.err


def test_a_missing_file(seqlab: Any, course: Path) -> None:
    answer = seqlab("learn", "1", "--check", "no.py")
    assert answer.code == 66 and "'no.py' is no file" in answer.err and "--exercises" in answer.err


def test_a_notebook_is_written_once(seqlab: Any, course: Path) -> None:
    assert seqlab("learn", "1", "--notebook", "n.ipynb").code == 0
    notebook = nbformat.read("n.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "code", "markdown"]
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    assert notebook.metadata.seqlab.source == catalog.find_lesson("1").fingerprint
    answer = seqlab("learn", "1", "--notebook", "n.ipynb")
    assert answer.code == 2 and "'n.ipynb' exists and may contain your work" in answer.err


def test_without_jupytext_there_is_no_notebook(seqlab: Any, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupytext", None)
    answer = seqlab("learn", "1", "--notebook", "n.ipynb")
    assert answer.code == 2 and "pip install 'seqlab[notebooks]'" in answer.err and not Path("n.ipynb").exists()


def test_published_pages_know_their_source(course: Path, tmp_path: Path) -> None:
    from seqlab.lessons.publish import is_current, publish

    quiet = LESSON.replace("warnings.warn(", "str(").replace(", SeqlabWarning, stacklevel=1", "")
    (course / "lesson.py").write_text(quiet, encoding="utf-8")
    lesson = catalog.find_lesson("sums")
    assert not is_current(tmp_path, lesson)
    publish(tmp_path, [lesson])
    assert is_current(tmp_path, lesson)
    made = json.loads((tmp_path / "01-sums.ipynb").read_text(encoding="utf-8"))
    assert made["metadata"]["seqlab"] == {"lesson": "sums", "source": lesson.fingerprint}
    (course / "lesson.py").write_text(quiet + "# More.\n", encoding="utf-8")
    assert not is_current(tmp_path, catalog.find_lesson("sums"))
