"""What a view returns: the text in columns with shaded cells, tables and charts. Three renderers show it.

A view is a function `(readings, **options) -> Sheet`. Its options are its keywords; others are refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rich.cells import cell_len
from torch import Tensor

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.shades import LEVELS


class Detail(NamedTuple):
    """One line of what a column shows when it is pointed at: a bar from 0 to 1, and a number in words."""

    label: str
    share: float
    amount: str


@dataclass(frozen=True)
class TokenColumn:
    """A token and its cells, from top to bottom: each a shade (see shades.py) and a short text."""

    token: str
    shade: int = 0
    cells: list[tuple[int, str]] = field(default_factory=list)
    heading: str = ""
    details: list[Detail] = field(default_factory=list)
    ends_line: bool = False  # as a newline does

    @property
    def breaks(self) -> bool:
        return self.ends_line or self.token.endswith("↵")

    @property
    def width(self) -> int:
        """In characters; a space after a text in the cells keeps it apart from the next one."""
        longest = max((cell_len(content) + 1 for _, content in self.cells if content), default=0)
        return max(cell_len(self.token), longest, 1)


@dataclass(frozen=True)
class TextTable:
    """A table; its first row has the headings. Only the first `texts` columns are texts, the others numbers."""

    title: str
    rows: list[list[str]]
    texts: int = 1


@dataclass(frozen=True)
class Chart:
    """`draw` gets matplotlib's axes; `alt` says in words what the chart shows."""

    draw: Callable[[Any], None]
    alt: str
    size: tuple[float, float] = (4.6, 2.6)  # inches


class WeightMap(NamedTuple):
    """The weights with which the tokens in rows look at those in columns (T, S); a head is called "... head 1"."""

    name: str
    weights_TS: Tensor


@dataclass(frozen=True)
class WeightMaps:
    """The heads of each layer, and summaries of all of them, which are shown large first. `rows` and `columns` are the
    tokens; a text that looks at itself has the same list twice."""

    rows: list[str]
    columns: list[str]
    layers: list[list[WeightMap]]
    summaries: list[WeightMap]


@dataclass(frozen=True)
class Sheet:
    """`lanes` are the names of the cells, from top to bottom; `data` are the numbers, for JSON. The columns of a sheet
    with maps are the tokens in their rows."""

    name: str
    sentence: str
    data: dict[str, Any]
    legend: str = ""
    lanes: list[str] = field(default_factory=list)
    columns: list[TokenColumn] = field(default_factory=list)
    blocks: list[TextTable] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    maps: WeightMaps | None = None


def scale(sheet: Sheet) -> range:
    """The shades of a legend: up to the strongest, on both sides where differences are shown; none for a mark."""
    shown = [
        shade for column in sheet.columns for shade in (column.shade, *(cell[0] for cell in column.cells)) if shade
    ]
    return range(-LEVELS if min(shown) < 0 else 0, LEVELS + 1) if len(shown) > 1 else range(0)


def one(readings: Sequence[Reading], name: str) -> Reading:
    """The only reading; UsageError if there are more."""
    if len(readings) > 1:
        raise UsageError(f"the view {name} shows one run at a time: {len(readings)} were given.")
    return readings[0]


def number(value: float) -> str:
    """With three decimals and a true minus sign, as on a board."""
    return f"{value:z.3f}".replace("-", "−")
