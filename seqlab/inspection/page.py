"""The page of a run and a text: every sheet in one file, which loads nothing and runs only its own script."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seqlab.errors import UsageError
from seqlab.inspection.maps import packed_maps
from seqlab.inspection.shades import page_class, page_rules
from seqlab.inspection.sheet import Chart, Sheet, TokenColumn, scale
from seqlab.pages import Picture, clean_text, page_environment, page_style, picture, policy
from seqlab.plotting import new_figure

HERE = Path(__file__).parent
TEMPLATE, STYLE, SCRIPTS = "page.html.j2", "inspect.css", ("inspect.js", "maps.js")
MAX_PAGE_BYTES = 2_000_000


def page(title: str, sheets: Sequence[Sheet], refused: Mapping[str, str]) -> str:
    """`refused`: the views that do not apply, and why. UsageError if the page is too large to be passed around."""
    content = _page(title, sheets, refused)
    size = len(content.encode())
    if size > MAX_PAGE_BYTES:
        raise UsageError(
            f"the page would have {size:,} bytes, and {MAX_PAGE_BYTES:,} are the most: give a shorter text, or choose "
            "one view."
        )
    return content


def _page(title: str, sheets: Sequence[Sheet], refused: Mapping[str, str]) -> str:
    style = page_style((HERE / STYLE).read_text(encoding="utf-8"), page_rules(), "\n")
    script = "".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    environment = page_environment(HERE)
    environment.filters |= {"clean": clean_text, "shade": page_class, "picture": _picture}
    environment.filters |= {"pointed": _pointed, "scale": scale, "legend": _legend}
    return environment.get_template(TEMPLATE).render(
        title=title,
        style=Markup(style),
        script=Markup(script),
        policy=policy(style, script),
        sheets=sheets,
        refused=refused,
        details=Markup(_as_json(sheets)),
    )


def _as_json(sheets: Sequence[Sheet]) -> str:
    """What the script shows when a token is pointed at. Strings come once and are numbered: most of them repeat."""
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(clean_text(text), len(numbers))

    def column_details(column: TokenColumn) -> list[Any]:
        lines = [[number(line.label), round(line.share, 3), number(line.amount)] for line in column.details]
        return [number(column.token), number(column.heading), lines]

    pointed = [sheet for sheet in sheets if _pointed(sheet) and not sheet.maps]
    details = {sheet.name: [column_details(column) for column in sheet.columns] for sheet in pointed}
    maps = {sheet.name: packed_maps(sheet.maps) for sheet in sheets if sheet.maps}
    written = json.dumps({"strings": list(numbers), "details": details, "maps": maps}, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")  # no markup within a script


def _pointed(sheet: Sheet) -> bool:
    """Whether its tokens show something when they are pointed at."""
    return sheet.maps is not None or any(column.details for column in sheet.columns)


def _legend(sheet: Sheet) -> str:
    lanes = f"under each token, from top to bottom: {', '.join(sheet.lanes)}" if sheet.lanes else ""
    lines = "blue: where the token looks that is pointed at" if sheet.maps else ""
    return "; ".join(filter(None, (sheet.legend, lanes, lines)))


def _picture(chart: Chart) -> Picture:
    figure = new_figure(*chart.size)
    chart.draw(figure.subplots())
    return picture(figure, chart.alt)
