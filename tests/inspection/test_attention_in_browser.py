"""The maps of attention in Chromium: heads, lines, rows; with the mouse and with the keyboard."""

import re
from pathlib import Path

import pytest
import torch
from browser import Browser, Scheme
from inspected_runs import TEXT, untrained
from pages_in_browser import CONTRASTS, DRAWN, HEADS, panel, visible
from selenium.webdriver.common.keys import Keys

from seqlab.inspection.inspection import Inspection, inspect
from seqlab.inspection.maps import MOST_KEPT
from seqlab.inspection.sheet import Sheet, TokenColumn, WeightMap, WeightMaps

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shown() -> dict[str, Inspection]:
    return {arch: inspect([untrained(arch)], TEXT, "attention", {}) for arch in ("transformer", "lstm-attention")}


@pytest.fixture(scope="module")
def pages(shown: dict[str, Inspection], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for arch, inspection in shown.items():
        inspection.write(folder / f"{arch}.html")
    return {arch: folder / f"{arch}.html" for arch in shown}


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
    assert len(TEXT) > MOST_KEPT
    assert f"the {MOST_KEPT} largest weights of a token" in browser.find("#attention .large figcaption").text
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
