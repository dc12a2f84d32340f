"""Every lesson is well-formed, claims what it measures, and its checks tell right answers from wrong ones."""

import io
import re
from types import ModuleType

import pytest
from prose_numbers import unproven
from wrong_answers import spoiled_answer

from seqlab.lessons.catalog import EXERCISES, SECONDS, Lesson, find_lesson, lessons
from seqlab.lessons.check_process import check_functions, judge, load_file
from seqlab.lessons.page import described, lesson_page
from seqlab.lessons.runner import run_lesson

LESSONS = lessons()
CHEAP = {"window", "recurrence", "lstm"}  # they run in the default tests
SLOW_CHECKS: set[str] = set()  # lessons whose checks train something


def parameters(quick: set[str]) -> list:
    return [
        pytest.param(lesson, id=lesson.name, marks=() if lesson.name in quick else pytest.mark.slow)
        for lesson in LESSONS
    ]


every_lesson = pytest.mark.parametrize("lesson", parameters({lesson.name for lesson in LESSONS}))
every_check = pytest.mark.parametrize("lesson", parameters({lesson.name for lesson in LESSONS} - SLOW_CHECKS))


@every_lesson
def test_it_begins_with_a_title_and_a_question(lesson: Lesson) -> None:
    first = lesson.cells[0]
    assert first.is_prose and re.match(r"# [A-Z][^\n]+[^.?]\n\n", first.source)
    assert lesson.question.endswith("?") and len(lesson.question) <= 200


@every_lesson
def test_it_has_exercises_and_a_check_for_each(lesson: Lesson) -> None:
    last = [cell for cell in lesson.cells if cell.is_prose][-1]
    assert EXERCISES in last.source
    numbers = re.findall(r"^(\d+)\. ", lesson.exercises, flags=re.MULTILINE)
    checks = check_functions(load_file(lesson.checks, f"checks_{lesson.name}"))
    assert numbers == [str(number) for number in range(1, len(checks) + 1)] and 1 <= len(checks) <= 4
    for check in checks:
        assert check.__doc__ and "\n" not in check.__doc__ and check.__doc__[-1] != "."


@every_lesson
def test_every_number_in_its_prose_is_asserted(lesson: Lesson) -> None:
    assert not unproven(lesson), "give each of them in an assert of a code cell"


@every_lesson
def test_its_prose_is_plain_markdown(lesson: Lesson) -> None:
    prose = "\n".join(cell.source for cell in lesson.cells if cell.is_prose)
    prose = re.sub(r"```.*?```|`[^`]*`", "", prose, flags=re.DOTALL)
    assert not re.search(r"<[a-z/!]|\]\(|https?:|\$|!\[", prose)
    assert len(lesson.source.splitlines()) <= 220
    assert sum(not cell.is_prose for cell in lesson.cells) <= 12


def judged(lesson: Lesson, answer: ModuleType) -> dict[str, str]:
    checks = check_functions(load_file(lesson.checks, f"checks_{lesson.name}"))
    return {str(check.__doc__): judge(check, answer) for check in checks}


@every_check
def test_the_model_answers_are_right(lesson: Lesson) -> None:
    assert not any(judged(lesson, load_file(lesson.solution, f"solution_{lesson.name}")).values())


@every_check
def test_wrong_answers_are_wrong_and_hear_why(lesson: Lesson) -> None:
    answer = spoiled_answer(load_file(lesson.solution, f"solution_{lesson.name}"))
    for exercise, wrong in judged(lesson, answer).items():
        assert len(wrong.split()) >= 4, exercise


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("window", "window_parameters"),
        ("lstm", "lstm_parameters"),
        ("gru", "equal_width"),
        ("attention", "multiplications"),
        ("bidirectional_encoders", "encoder_parameters"),
        ("comparison", "lstm_parameters"),
    ],
)
def test_a_string_instead_of_a_number_is_shown_in_quotes(name: str, function: str) -> None:
    lesson = find_lesson(name)
    answer = load_file(lesson.solution, f"solution_{name}")
    right = getattr(answer, function)
    setattr(answer, function, lambda *sizes: str(right(*sizes)))
    (wrong,) = filter(None, judged(lesson, answer).values())
    assert re.search(r" '\d+'; ", wrong)


@every_check
@pytest.mark.parametrize("value", ["a string", None, 0.5, lambda *_, **__: "a string", lambda *_, **__: None])
def test_an_answer_of_another_type_is_wrong_and_shown(lesson: Lesson, value: object) -> None:
    """Never the error alone that Python gives in the check, where the learner can see nothing."""
    answer = load_file(lesson.solution, f"solution_{lesson.name}")
    for name in [name for name in vars(answer) if not name.startswith("__")]:
        setattr(answer, name, value)
    for exercise, wrong in judged(lesson, answer).items():
        assert wrong and not re.match(r"\w+Error", wrong), (exercise, wrong)
        if not callable(value):
            assert re.match(r"your \w+ is .* \((str|NoneType|float)\), and the exercise asks", wrong), (exercise, wrong)


def test_a_check_without_words_does_not_pass() -> None:
    answer = ModuleType("answer")
    answer.__file__, vars(answer)["size"] = "answer.py", lambda: "many"

    def check(module: ModuleType) -> None:
        if not isinstance(module.size(), int):
            raise AssertionError

    assert judge(check, answer) == "your size returned 'many' (str), and the exercise asks for something else."


@every_lesson
def test_an_empty_file_hears_what_to_define(lesson: Lesson) -> None:
    empty = ModuleType("empty")
    empty.__file__ = "empty.py"
    for exercise, wrong in judged(lesson, empty).items():
        assert wrong.startswith("empty.py does not define '"), exercise


@pytest.mark.parametrize("lesson", parameters(CHEAP))
@pytest.mark.timeout(900)
def test_it_runs_and_measures_what_it_says(lesson: Lesson) -> None:
    results = list(run_lesson(lesson, io.StringIO()))
    figures = [result.figure for result in results if result.figure is not None]
    assert figures or any(result.inspection is not None for result in results), "a lesson shows a picture"
    assert all(described(figure) for figure in figures), "every figure has a title"
    assert len(lesson_page(lesson, results)) > 5000


def test_the_course_has_no_other_folders() -> None:
    from seqlab.lessons.catalog import COURSE

    assert {path.name for path in COURSE.iterdir() if path.name != "__pycache__"} == {*SECONDS}
