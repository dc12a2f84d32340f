"""The page of a lesson in Chromium: figures and frames show, nothing is loaded, nothing of the text runs."""

from pathlib import Path

import pytest
from browser import Browser, Scheme
from small_runs import small_run

from seqlab.lessons.catalog import Lesson, lessons
from seqlab.lessons.cells import LessonCell
from seqlab.lessons.page import lesson_page
from seqlab.lessons.runner import CellResult
from seqlab.plotting import new_figure

pytestmark = pytest.mark.browser
RUNS = "</pre></code><script>document.title='RAN'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prose, code and output that would run, a figure, and two inspections of the same view."""
    folder = tmp_path_factory.mktemp("lesson")
    lesson: Lesson = lessons()[0]
    run = small_run(folder)
    figure = new_figure(4, 2)
    figure.subplots().set_title(RUNS)
    shown = [figure, run.inspect("the cat", "surprise"), run.inspect("the mat sat", "surprise")]
    results = [CellResult(LessonCell(True, f"# Title {RUNS}\n\nA question?", 1))]
    results += [CellResult(LessonCell(False, f"x = {RUNS!r}  # {'long ' * 60}", 5), RUNS, value) for value in shown]
    path = folder / "page.html"
    path.write_text(lesson_page(lesson, results), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [340, 1280])
def test_figures_and_inspections_show_and_nothing_runs(
    browser: Browser, page: Path, width: int, scheme: Scheme
) -> None:
    browser.open(page, width, scheme=scheme)
    assert browser.driver.title == "1. A fixed window" and browser.sideways() == 0
    assert browser.run("return [...document.images].map(image => image.naturalWidth > 0)") == [True]
    papers = browser.run(
        "return [...document.querySelectorAll('iframe')].map("
        "frame => getComputedStyle(frame.contentDocument.body).backgroundColor)"
    )
    assert papers == [{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]] * 2
    assert browser.problems() == []


def test_an_inspection_answers_when_it_is_pointed_at(browser: Browser, page: Path) -> None:
    browser.open(page)
    frames = browser.find_all("iframe")
    heights = browser.run("return [...document.querySelectorAll('iframe')].map(frame => frame.clientHeight)")
    inner = browser.run(
        "return [...document.querySelectorAll('iframe')].map(frame => frame.contentDocument.body.offsetHeight)"
    )
    assert all(abs(outer - needed) < 10 for outer, needed in zip(heights, inner, strict=True))
    browser.run("arguments[0].scrollIntoView()", frames[1])
    browser.driver.switch_to.frame(frames[1])
    before = browser.find(".shown").text
    browser.point(browser.find_all(".t")[3])
    assert browser.find(".shown").text != before
    browser.driver.switch_to.default_content()
    assert browser.problems() == []
