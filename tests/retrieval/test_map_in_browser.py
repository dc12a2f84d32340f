"""The page of a map in Chromium: points, what is shown of one, and the search."""

from pathlib import Path

import numpy as np
import pytest
from browser import Browser, Scheme

from seqlab.retrieval.map import DocumentMap, map_page

pytestmark = pytest.mark.browser
RUNS = "</script><img src=x onerror=\"document.title='RAN'\">"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    count = 30
    titles = [f"Otter {row} {RUNS}" if row < 3 else f"Dog {row}" for row in range(count)]
    places_M2 = np.random.default_rng(0).normal(size=(count, 2))
    near = [[(row + step) % count for step in (1, 2)] for row in range(count)]
    texts = [f"text of {row} {RUNS}" for row in range(count)]
    folders = ["a" if row % 2 else "b" for row in range(count)]
    ids = [f"{folder}/{row}.md" for row, folder in enumerate(folders)]
    found = DocumentMap("notes", count, titles, ids, texts, places_M2, [0.4, 0.2], folders, near)
    path = tmp_path_factory.mktemp("map") / "map.html"
    path.write_text(map_page(found), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [340, 1280])
def test_points_are_shown_and_found(browser: Browser, page: Path, width: int, scheme: Scheme) -> None:
    browser.open(page, width, scheme=scheme)
    assert browser.run("return circles.length") == 30 and browser.sideways() == 0
    browser.run("circles[5].dispatchEvent(new PointerEvent('pointerenter'))")
    assert browser.run("return shown.querySelector('h2').textContent") == "Dog 5"
    assert browser.run("return [...shown.querySelectorAll('button')].map(one => one.textContent)") == ["Dog 6", "Dog 7"]
    browser.run("words.value = 'otter 1'; words.dispatchEvent(new Event('input'))")
    assert browser.run("return count.textContent") == "1 of 30"
    assert browser.run("return circles.filter(one => !one.classList.contains('faded')).length") == 1
    browser.run("shown.querySelector('button').click()")
    assert browser.run("return shown.querySelector('h2').textContent") == f"Otter 1 {RUNS}"
    assert browser.driver.title == "Map of notes" and browser.problems() == []
