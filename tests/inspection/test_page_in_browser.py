"""The page of `seqlab inspect` in Chromium: pointed at, clicked, used with the keyboard, in every width and scheme."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import torch
from browser import Browser, Scheme
from inspected_runs import LEARNED, TEXT, untrained
from pages_in_browser import CONTRASTS, HEADS, LEFT, panel, visible
from selenium.webdriver.common.keys import Keys
from small_runs import train_small

from seqlab.inspection.inspection import Inspection, inspect
from seqlab.inspection.page import MAX_PAGE_BYTES
from seqlab.inspection.sheet import Detail, Sheet, TextTable, TokenColumn, WeightMap, WeightMaps

pytestmark = pytest.mark.browser
RAN = "document.title='RAN'"
HOSTILE = f'</script><img src=x onerror="{RAN}"><script>{RAN}</script>\u2028\u2029\'"`${{{RAN}}}'
FRAME = 50  # milliseconds: a frame that takes longer is seen as a stutter


@pytest.fixture(scope="module")
def shown() -> Inspection:
    return inspect([untrained("transformer")], TEXT, None, {})


@pytest.fixture(scope="module")
def page(shown: Inspection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    shown.write(path)
    return path


def likeliest(inspection: Inspection, at: int) -> list[str]:
    return list(inspection.as_dict()["surprise"]["pieces"][at]["likeliest"][0])


# --- tokens ---------------------------------------------------------------------------------------------------------


def test_a_token_that_is_pointed_at_shows_its_ten_likeliest(browser: Browser, page: Path, shown: Inspection) -> None:
    browser.open(page)
    assert panel(browser, "surprise") == ("h", likeliest(shown, 1))  # nothing is predicted before
    tokens = browser.find_all("#surprise .t")
    for at in (4, 7):
        browser.point(tokens[at])
        assert panel(browser, "surprise") == (visible(TEXT[at]), likeliest(shown, at))
        assert len(likeliest(shown, at)) == 10
    assert browser.problems() == []


def test_a_click_holds_a_token(browser: Browser, page: Path) -> None:
    browser.open(page)
    tokens = browser.find_all("#surprise .t")
    tokens[4].click()
    browser.point(tokens[7])
    assert panel(browser, "surprise")[0] == TEXT[4]
    tokens[4].click()
    browser.point(tokens[7])
    assert panel(browser, "surprise")[0] == visible(TEXT[7])
    assert browser.problems() == []


def test_the_keyboard_reaches_everything(browser: Browser, page: Path, shown: Inspection) -> None:
    browser.open(page)
    views = [sheet.name for sheet in shown.sheets]
    active = "const e = document.activeElement; return e.dataset.sheet ?? e.getAttribute('aria-label') ?? e.textContent"
    reached = []
    for _ in range(60):
        browser.press(Keys.TAB)
        reached.append(browser.run(active))
    texts = [sheet.name for sheet in shown.sheets if sheet.columns]
    assert reached[: len(views)] == views  # the links to them
    rest = iter(reached[len(views) :])
    assert all(text in rest for text in texts)  # in this order
    assert f"the mean of {HEADS} heads" in reached


def test_arrow_keys_move_in_the_text(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#surprise .text').focus()")
    browser.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert panel(browser, "surprise")[0] == TEXT[2]
    browser.press(Keys.ARROW_DOWN)  # the second line begins after the newline
    assert panel(browser, "surprise")[0] == TEXT[TEXT.index("\n") + 1 + 2]
    browser.press(Keys.ARROW_UP)
    assert panel(browser, "surprise")[0] == TEXT[2]
    browser.press(Keys.END)
    assert panel(browser, "surprise")[0] == "↵"
    browser.press(Keys.ENTER)
    browser.point(browser.find_all("#surprise .t")[4])
    assert panel(browser, "surprise")[0] == "↵"  # held
    browser.press(Keys.ESCAPE)
    browser.point(browser.find_all("#surprise .t")[5])
    assert panel(browser, "surprise")[0] == TEXT[5]
    assert browser.problems() == []


def test_a_link_goes_to_its_view(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.find("nav a[href='#ablate']").click()
    assert abs(browser.run("return document.querySelector('#ablate h2').getBoundingClientRect().top")) < 60


# --- the page as a whole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 800, 1280])
def test_the_page_fits_and_loads_nothing(browser: Browser, page: Path, width: int, scheme: Scheme) -> None:
    browser.open(page, width, scheme=scheme)
    assert browser.sideways() == 0
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 28)")
    browser.point(browser.find_all("#surprise .t")[6])
    bottom = browser.run("return document.querySelector('#surprise .shown').getBoundingClientRect().bottom")
    assert 0 < bottom <= 900  # what a token shows is in the window
    color = browser.run(LEFT, browser.find("#attention .map"))
    assert (sum(color[:3]) > 400) == (scheme == "light") and color[3] == 255
    assert browser.sideways() == 0
    assert browser.problems() == []


def test_no_text_and_no_name_runs(browser: Browser, tmp_path: Path) -> None:
    run = untrained("transformer", tokenizer="byte")
    run = replace(run, path=Path("runs") / HOSTILE)
    shown = inspect([run], HOSTILE, None, {})
    (tmp_path / "page.html").write_text(shown.html(), encoding="utf-8")
    (tmp_path / "notebook.html").write_text(shown._repr_html_(), encoding="utf-8")  # pyright: ignore[reportPrivateUsage]
    browser.open(tmp_path / "page.html")
    for view in ("surprise", "attention", "lens"):
        for at in (1, 20, 40):
            browser.point(browser.find_all(f"#{view} .text .t")[at])
    assert browser.driver.title != "RAN" and browser.driver.title.startswith("runs/")
    assert browser.problems() == []
    browser.open(tmp_path / "notebook.html")
    browser.driver.switch_to.frame(0)
    browser.point(browser.find_all("#surprise .t")[4])
    assert browser.find("#surprise .shown h3").text == HOSTILE[4]
    browser.find("nav a[href='#attention']").click()
    assert browser.run("return document.querySelectorAll('#attention .head').length") == 2 + HEADS
    browser.driver.switch_to.default_content()
    assert browser.driver.title != "RAN"
    assert browser.problems() == []


def test_no_string_of_a_sheet_runs(browser: Browser, tmp_path: Path) -> None:
    """Tokens, lanes, details, tables and heads, each of them an attack."""
    columns = [TokenColumn(HOSTILE, 3, [(2, HOSTILE)], HOSTILE, [Detail(HOSTILE, 0.5, HOSTILE)])] * 2
    table = TextTable(HOSTILE, [[HOSTILE], [HOSTILE]])
    maps = WeightMaps([HOSTILE] * 2, [HOSTILE] * 2, [[WeightMap(f"{HOSTILE} head 1", torch.eye(2))]], [])
    sheets = [
        Sheet("gates", HOSTILE, {}, HOSTILE, [HOSTILE], columns, [table]),
        Sheet("attention", HOSTILE, {}, HOSTILE, columns=columns, maps=maps),
    ]
    Inspection(HOSTILE, sheets, {"lens": HOSTILE}).write(tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 400)
    for view in ("gates", "attention"):
        browser.find(f"#{view} .text[data-sheet] .t").click()
        assert "<img src=x onerror=" in browser.find(f"#{view} .shown").text
    assert browser.driver.title.startswith("</script>")
    assert browser.sideways() == 0
    assert browser.problems() == []


def test_the_page_of_a_trained_run(
    browser: Browser, seqlab: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the commands themselves, in folders with the name of an attack."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.txt").write_text("the cat sat on the mat and the dog ran to the sea. " * 40, encoding="utf-8")
    train_small(tmp_path / "my.txt", tmp_path / HOSTILE, arch="lstm")
    answer = seqlab("inspect", HOSTILE, "--text", "the cat sat", "--out", "page.html")
    assert answer.code == 0, answer.err
    browser.open(tmp_path / "page.html")
    browser.point(browser.find_all("#gates .t")[4])
    assert panel(browser, "gates") == ("c", ["layer1.input", "layer1.forget", "layer1.output"])
    assert browser.driver.title.startswith("<") and browser.driver.title != "RAN"
    assert browser.problems() == []


def test_a_thousand_tokens_scroll_and_follow_the_pointer(browser: Browser, tmp_path: Path) -> None:
    """A Transformer of four layers: the views whose pages grow with the text."""
    run, text = untrained("transformer", layers=4), (LEARNED * 8)[:1000]
    sheets = [inspect([run], text, view, {}).sheets[0] for view in ("surprise", "lens", "attention", "step")]
    Inspection("a thousand tokens", sheets, {}).write(tmp_path / "page.html")
    # the other views of a real page take as much as one of these
    assert (tmp_path / "page.html").stat().st_size < 0.8 * MAX_PAGE_BYTES
    browser.open(tmp_path / "page.html")
    found = {"scrolling the page": browser.frames("scrollBy(0, 40)")}
    pointing = "tokens[(frame * 11) % tokens.length].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))"
    for view in ("surprise", "lens", "attention"):
        browser.run(f"document.querySelector('#{view}').scrollIntoView()")
        text_box = f"const text = document.querySelector('#{view} .text')"
        found[f"scrolling {view}"] = browser.frames(f"{text_box}; text.scrollTop = (frame * 20) % text.scrollHeight")
        found[f"pointing in {view}"] = browser.frames(f"{text_box}, tokens = text.querySelectorAll('.t'); {pointing}")
    slow = {what: computed for what, (_, computed) in found.items() if computed >= FRAME / 2}
    assert not slow, {what: (computed, median(times), max(times)) for what, (times, computed) in found.items()}
    assert browser.problems() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_read_on_every_shade(browser: Browser, page: Path, scheme: Scheme) -> None:
    browser.open(page, scheme=scheme)
    contrasts = browser.run(CONTRASTS)
    assert len(contrasts) == 16 and min(contrasts) >= 4.5, contrasts
