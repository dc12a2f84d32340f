"""The report in Chromium: no string runs, nothing is loaded, and the page never scrolls sideways."""

from pathlib import Path

import pytest
from browser import Browser, Scheme
from comparison_cases import realistic, replaced

from seqlab.comparison.report.clean import cleaned
from seqlab.comparison.report.page import page

pytestmark = pytest.mark.browser
# each would change the title of the page, were it to run
RUNS = (
    "<script>document.title='RAN'</script>",
    '"><img src=x onerror="document.title=\'RAN\'">',
    "</style></title></pre></svg><svg onload=\"document.title='RAN'\">",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = replaced(realistic(), lambda text: text + "_without_any_space_in_it" * 3 + "".join(RUNS))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(cleaned(results)), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [340, 800, 1400])
def test_strings_do_not_run_and_the_page_fits(browser: Browser, report: Path, width: int, scheme: Scheme) -> None:
    browser.open(report, width, scheme=scheme)
    assert browser.sideways() == 0
    title = browser.driver.title
    assert title != "RAN" and title.endswith("models compared")
    drawn = browser.run("return [...document.images].map(image => image.naturalWidth > 0)")
    assert drawn == [True] * 12  # every chart
    assert browser.problems() == []


def test_the_style_passes_its_own_policy(browser: Browser, report: Path) -> None:
    """A style whose hash the policy does not name is left out in silence."""
    paper = "return getComputedStyle(document.body).backgroundColor"
    browser.open(report, scheme="light")
    assert browser.run(paper) == "rgb(255, 255, 255)"
    browser.open(report, scheme="dark")
    assert browser.run(paper) == "rgb(20, 23, 28)"
