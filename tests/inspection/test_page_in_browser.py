"""The page of `seqlab inspect` in Chromium: pointed at, clicked, used with the keyboard, in every width and scheme."""

import re
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from browser import Browser, Scheme
from inspected_runs import LEARNED, TEXT, untrained
from selenium.webdriver.common.keys import Keys

from seqlab.inspection.inspection import Inspection, inspect
from seqlab.inspection.page import MAX_PAGE_BYTES
from seqlab.inspection.sheet import Sheet, TokenColumn, WeightMap, WeightMaps

pytestmark = pytest.mark.browser
RAN = "document.title='RAN'"
HOSTILE = f'</script><img src=x onerror="{RAN}"><script>{RAN}</script>\u2028\u2029\'"`${{{RAN}}}'
FRAME = 50  # milliseconds: a frame that takes longer is seen as a stutter
HEADS = 8  # of a Transformer of two layers


@pytest.fixture(scope="module")
def shown() -> dict[str, Inspection]:
    return {arch: inspect([untrained(arch)], TEXT, None, {}) for arch in ("transformer", "lstm-attention")}


@pytest.fixture(scope="module")
def pages(shown: dict[str, Inspection], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for arch, inspection in shown.items():
        inspection.write(folder / f"{arch}.html")
    return {arch: folder / f"{arch}.html" for arch in shown}


def visible(text: str) -> str:
    return text.replace(" ", "·").replace("\n", "↵")


def panel(browser: Browser, view: str) -> tuple[str, list[str]]:
    """The token that is shown, and the first words of its lines."""
    box = f"#{view} .shown"
    return browser.find(f"{box} h3").text, [line.text for line in browser.find_all(f"{box} .line span:first-of-type")]


def likeliest(inspection: Inspection, at: int) -> list[str]:
    return list(inspection.as_dict()["surprise"]["pieces"][at]["likeliest"][0])


# --- tokens ---------------------------------------------------------------------------------------------------------


def test_a_token_that_is_pointed_at_shows_its_ten_likeliest(
    browser: Browser, pages: dict[str, Path], shown: dict[str, Inspection]
) -> None:
    browser.open(pages["transformer"])
    assert panel(browser, "surprise") == ("h", likeliest(shown["transformer"], 1))  # nothing is predicted before
    tokens = browser.find_all("#surprise .t")
    for at in (4, 7):
        browser.point(tokens[at])
        assert panel(browser, "surprise") == (visible(TEXT[at]), likeliest(shown["transformer"], at))
        assert len(likeliest(shown["transformer"], at)) == 10
    assert browser.problems() == []


def test_a_click_holds_a_token(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["transformer"])
    tokens = browser.find_all("#surprise .t")
    tokens[4].click()
    browser.point(tokens[7])
    assert panel(browser, "surprise")[0] == TEXT[4]
    tokens[4].click()
    browser.point(tokens[7])
    assert panel(browser, "surprise")[0] == visible(TEXT[7])
    assert browser.problems() == []


def test_the_keyboard_reaches_everything(
    browser: Browser, pages: dict[str, Path], shown: dict[str, Inspection]
) -> None:
    browser.open(pages["transformer"])
    views = [sheet.name for sheet in shown["transformer"].sheets]
    active = "const e = document.activeElement; return e.dataset.sheet ?? e.getAttribute('aria-label') ?? e.textContent"
    reached = []
    for _ in range(60):
        browser.press(Keys.TAB)
        reached.append(browser.run(active))
    texts = [sheet.name for sheet in shown["transformer"].sheets if sheet.columns]
    assert reached[: len(views)] == views  # the links to them
    rest = iter(reached[len(views) :])
    assert all(text in rest for text in texts)  # in this order
    assert f"the mean of {HEADS} heads" in reached


def test_arrow_keys_move_in_the_text(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["transformer"])
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


def test_a_link_goes_to_its_view(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["transformer"])
    browser.find("nav a[href='#ablate']").click()
    assert abs(browser.run("return document.querySelector('#ablate h2').getBoundingClientRect().top")) < 60


# --- attention ------------------------------------------------------------------------------------------------------

# how many points of a canvas are drawn, and the color of one in its left half
POINTS = """const c = arguments[0].cloneNode().getContext("2d", {willReadFrequently: true}).canvas;
c.getContext("2d").drawImage(arguments[0], 0, 0);
const points = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;"""
DRAWN = f"{POINTS} return points.filter((value, at) => at % 4 === 3 && value > 0).length"
LEFT = f"{POINTS} return [...points.slice(4 * (c.width * (c.height >> 1) + (c.width >> 2)))].slice(0, 4)"


@pytest.mark.parametrize("arch", ["transformer", "lstm-attention"])
def test_a_token_shows_where_it_looks(
    browser: Browser, pages: dict[str, Path], shown: dict[str, Inspection], arch: str
) -> None:
    browser.open(pages[arch])
    lines = browser.find("#attention .lines")
    assert browser.run(DRAWN, lines) == 0
    browser.point(browser.find_all("#attention .text .t")[9])
    token, found = panel(browser, "attention")
    expected = [label for label, _ in shown[arch].as_dict()["attention"]["looks_at"][9]]
    assert token == TEXT[9] and found[:3] == expected[:3]
    assert browser.run(DRAWN, lines) > 100 and browser.run(DRAWN, browser.find("#attention .mark")) > 100
    assert "not what the prediction depends on" in browser.find("#attention .note").text
    assert browser.problems() == []


def test_a_head_of_the_grid_becomes_large(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["transformer"])
    heads = browser.find_all("#attention .head")
    caption = browser.find("#attention .large figcaption")
    assert len(heads) == 2 + HEADS  # the mean and the rollout
    assert caption.text.startswith(f"the mean of {HEADS} heads:")
    heads[3].click()
    assert caption.text.startswith("layer1.attention head 2:")
    browser.point(browser.find_all("#attention .text .t")[9])
    assert "layer1.attention head 2: token 10 looks at" in browser.find("#attention .shown p").text
    browser.run("document.querySelector('#attention .head[tabindex=\"0\"]').focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ENTER)
    assert caption.text.startswith("layer2.attention head 2:")
    browser.press(Keys.ARROW_LEFT, Keys.ENTER)
    assert caption.text.startswith("layer2.attention head 1:")
    browser.press(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ENTER)
    assert caption.text.startswith("rollout through all layers:")
    assert "rollout through all layers: token 10 looks at" in browser.find("#attention .shown p").text
    assert [head.get_attribute("aria-pressed") for head in heads] == ["false", "true", *["false"] * HEADS]
    assert browser.problems() == []


def test_the_row_of_a_map_is_the_token_of_the_text(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["transformer"])
    browser.point(browser.find("#attention .mark"))  # in the middle of both, labels are as high as some rows
    heading = browser.find("#attention .shown p").text
    found = re.fullmatch(rf"the mean of {HEADS} heads: token (\d+) looks at", heading)
    assert found and 1 < int(found[1]) < len(TEXT) // 2
    assert panel(browser, "attention")[0] == visible(TEXT[int(found[1]) - 1])


def test_rows_and_columns_may_be_other_tokens(browser: Browser, tmp_path: Path) -> None:
    """As in a translation: three words look at five."""
    import torch

    weights_TS = torch.zeros(3, 5)
    weights_TS[0, 4] = weights_TS[1, 0] = weights_TS[2, 2] = 1.0
    rows, columns = ["der", "rote", "Hund"], ["dog", "the", "red", "a", "it"]
    maps = WeightMaps(rows, columns, [[WeightMap("cross head 1", weights_TS)]], [])
    sheet = Sheet("attention", "", {}, columns=[TokenColumn(token) for token in rows], maps=maps)
    Inspection("", [sheet], {}).write(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    for at, expected in enumerate(("it (5)", "dog (1)", "red (3)")):
        browser.point(browser.find_all("#attention .text[data-sheet] .t")[at])
        assert panel(browser, "attention") == (rows[at], [expected])
        colored = browser.run(
            "return [...document.querySelectorAll('.source .t')].map(t => t.style.backgroundColor !== '')"
        )
        assert colored == [f"{token} ({n})" == expected for n, token in enumerate(columns, 1)]
    assert browser.problems() == []


# --- the page as a whole --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 800, 1280])
def test_the_page_fits_and_loads_nothing(browser: Browser, pages: dict[str, Path], width: int, scheme: Scheme) -> None:
    browser.open(pages["transformer"], width, scheme=scheme)
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


# the contrast of letters on every shade, as WCAG defines it; color-mix is reported as color(srgb r g b)
CONTRASTS = """
const light = (color) => {
  const whole = color.startsWith("rgb") ? 255 : 1;
  const [red, green, blue] = color.match(/[\\d.]+/g).slice(0, 3).map((text) => {
    const part = Number(text) / whole;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ratio = (first, second) => (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
const token = document.querySelector(".text .t");
return ["hot", "cold"].flatMap((name) => [1, 2, 3, 4, 5, 6, 7, 8].map((shade) => {
  token.className = `t ${name}${shade}`;
  const style = getComputedStyle(token);
  return ratio(light(style.color), light(style.backgroundColor));
}));
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_read_on_every_shade(browser: Browser, pages: dict[str, Path], scheme: Scheme) -> None:
    browser.open(pages["transformer"], scheme=scheme)
    contrasts = browser.run(CONTRASTS)
    assert len(contrasts) == 16 and min(contrasts) >= 4.5, contrasts


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_read_where_a_token_looks(browser: Browser, pages: dict[str, Path], scheme: Scheme) -> None:
    browser.open(pages["lstm-attention"], scheme=scheme)
    browser.find_all("#attention .text .t")[0].click()  # it looks at itself alone, with the strongest color
    script = (
        CONTRASTS.split("return [", 1)[0]
        + """
    const style = getComputedStyle(token);
    return [ratio(light(style.color), light(style.backgroundColor)), style.backgroundColor];"""
    )
    contrast, color = browser.run(script.replace('".text .t"', '"#attention .text .t"'))
    assert contrast >= 4.5 and color == {"light": "rgb(11, 47, 122)", "dark": "rgb(207, 224, 255)"}[scheme]
