"""The page, pictures and the notebook: escaped, self-contained, and no larger than they may be."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from inspected_runs import LEARNED, TEXT, untrained

from seqlab.errors import UsageError
from seqlab.inspection.inspection import Inspection, inspect
from seqlab.inspection.page import MAX_PAGE_BYTES, page
from seqlab.inspection.sheet import Detail, Sheet, TextTable, TokenColumn
from seqlab.registry import VIEWS

HOSTILE = "</script><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>\u202e\x07"


class Elements(HTMLParser):
    """Every element with its attributes, and all text."""

    def __init__(self, content: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def shown() -> Inspection:
    return inspect([untrained("lstm")], TEXT, None, {})


@pytest.fixture(scope="module")
def html(shown: Inspection) -> str:
    return shown.html()


def test_the_page_holds_every_view_and_loads_nothing(html: str) -> None:
    elements = Elements(html)
    sections = [attributes["id"] for attributes in elements.named("section")]
    assert sections == [*(view for view in VIEWS if view not in ("attention", "similar")), "others"]
    for _, attributes in elements.found:
        assert (attributes.get("href") or "#").startswith("#")
        assert not attributes.keys() & {"srcset", "style", "onclick", "onerror", "onload"}
        assert (attributes.get("src") or "data:").startswith("data:")
    assert all(attributes["alt"] for attributes in elements.named("img"))
    own = re.sub(r'src="data:[^"]*"', "", html)
    assert not re.search(r"@import|url\(|https?:", own)


def test_only_the_style_and_the_script_of_the_page_are_allowed(html: str) -> None:
    elements = Elements(html)
    (policy,) = [a["content"] for a in elements.named("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy and "default-src 'none'" in policy
    parts = re.findall(r"<(style|script)>(.*?)</\1>", html, flags=re.DOTALL)
    assert [name for name, _ in parts] == ["style", "script"]
    for name, content in parts:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_what_a_token_shows_is_in_the_page(shown: Inspection, html: str) -> None:
    (found,) = re.findall(r'<script type="application/json" id="details">(.*?)</script>', html, re.DOTALL)
    content = json.loads(found)
    strings, details = content["strings"], content["details"]
    token, heading, lines = details["surprise"][4]
    piece = shown.sheets[0].data["pieces"][4]
    assert strings[token] == piece["text"] and strings[heading] == f"{piece['bits'][0]:.2f} bits"
    assert [strings[label] for label, _, _ in lines] == list(piece["likeliest"][0])
    assert [share for _, share, _ in lines] == pytest.approx(list(piece["likeliest"][0].values()), abs=6e-4)


def test_no_string_becomes_markup() -> None:
    column = TokenColumn(HOSTILE, 3, [(2, HOSTILE)], HOSTILE, [Detail(HOSTILE, 0.5, HOSTILE)])
    sheet = Sheet("gates", HOSTILE, {}, HOSTILE, [HOSTILE], [column], [TextTable(HOSTILE, [[HOSTILE], [HOSTILE]])])
    content = page(HOSTILE, [sheet], {"lens": HOSTILE})
    elements = Elements(content)
    assert len(elements.named("script")) == 2 and not elements.named("img")
    assert content.count("</script") == 2  # a browser ends a script there, whatever follows
    assert "\u202e" not in content and "\x07" not in content
    assert elements.text.count("<img src=x onerror=alert(1)>") >= 8


def without_charts(shown: Inspection) -> Inspection:
    return replace(shown, sheets=[replace(sheet, charts=[]) for sheet in shown.sheets])


def test_the_tokens_of_a_long_text_fit() -> None:
    """What grows with the text: its columns. A thousand tokens of an LSTM with two layers take less than half."""
    run, text = untrained("lstm"), (LEARNED * 8)[:1000]
    sheets = [inspect([run], text, view, {}).sheets[0] for view in ("surprise", "gates", "lens", "step")]
    content = page("", [replace(sheet, charts=[]) for sheet in sheets], {})
    assert len(content.encode()) < MAX_PAGE_BYTES / 2


def test_a_page_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, shown: Inspection) -> None:
    monkeypatch.setattr("seqlab.inspection.page.MAX_PAGE_BYTES", 1000)
    with pytest.raises(UsageError, match=r"the page would have [\d,]+ bytes, and 1,000 are the most"):
        without_charts(shown).html()


def test_a_notebook_shows_the_page_in_a_frame(shown: Inspection) -> None:
    plain = without_charts(shown)
    ((tag, attributes),) = Elements(plain._repr_html_()).found  # pyright: ignore[reportPrivateUsage]
    assert tag == "iframe" and attributes["srcdoc"] == plain.html()


def test_a_picture_shows_the_text_as_it_is(tmp_path: Path) -> None:
    inspect([untrained("gru")], "The cat sat", "surprise", {}).write(tmp_path / "picture.svg")
    assert "<svg" in (tmp_path / "picture.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "message"),
    [("all.png", "a picture shows one view"), ("page.pdf", "no page or picture"), ("page", "no page or picture")],
)
def test_files_that_cannot_be_written_are_refused(shown: Inspection, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shown.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_numbers_are_there_for_programs(shown: Inspection) -> None:
    content: dict[str, Any] = json.loads(json.dumps(shown.as_dict()))
    assert set(content) == {*VIEWS, "not_applicable"} - {"attention", "similar"}
