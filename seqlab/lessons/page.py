"""The page of a lesson: one file with its prose, its code and everything that the code showed."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seqlab.lessons.catalog import Lesson
from seqlab.lessons.runner import CellResult
from seqlab.pages import Picture, clean_text, page_environment, page_style, picture, policy
from seqlab.plotting import figure_bytes

HERE = Path(__file__).parent
TEMPLATE, STYLE, SCRIPT = "lesson.html.j2", "lesson.css", "lesson.js"
GENERATOR = "seqlab learn"  # a page that says so may be written again
MAX_PAGE_BYTES = 2_000_000
MAX_SVG_BYTES = 200_000  # a picture of many points is smaller as PNG


def lesson_page(lesson: Lesson, results: Sequence[CellResult]) -> str:
    """The page. ValueError if it is too large to be passed around."""
    style = page_style((HERE / STYLE).read_text(encoding="utf-8"), _code_style())
    inspections = [result.inspection.html() for result in results if result.inspection is not None]
    script = (HERE / SCRIPT).read_text(encoding="utf-8") if inspections else None
    environment = page_environment(HERE)
    environment.filters |= {"clean": clean_text, "prose": _prose, "code": _code, "picture": _picture}
    content = environment.get_template(TEMPLATE).render(
        lesson=lesson,
        results=results,
        generator=GENERATOR,
        style=Markup(style),
        script=None if script is None else Markup(script),
        policy=policy(style, script, inspections),
    )
    if len(content.encode()) > MAX_PAGE_BYTES:
        raise ValueError(f"the page of lesson {lesson.number} has {len(content.encode()):,} bytes: too many.")
    return content


def described(figure: Any) -> str:
    """What a figure shows in words: its title, or those of its parts."""
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    return "; ".join(" ".join(title.split()) for title in titles if title)


def _prose(source: str) -> Markup:
    from markdown_it import MarkdownIt

    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(source))


def _code(source: str) -> Markup:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return Markup(highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)))


def _code_style() -> str:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="default", nobackground=True).get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark", nobackground=True).get_style_defs(".code")
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _picture(figure: Any) -> Picture:
    drawn = picture(figure, described(figure))
    if len(drawn.source) <= MAX_SVG_BYTES:
        return drawn
    png = base64.b64encode(figure_bytes(figure, "png", transparent=True)).decode()
    return Picture(f"data:image/png;base64,{png}", drawn.alt)
