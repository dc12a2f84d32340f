"""Sheets as a picture: its text in lines, lanes under them, tables and charts, from top to bottom."""

from collections.abc import Callable, Iterator, Sequence
from textwrap import fill
from typing import Any, NamedTuple

from seqlab.inspection.maps import map_charts
from seqlab.inspection.shades import LEVELS, color
from seqlab.inspection.sheet import Sheet, TextTable, TokenColumn, scale
from seqlab.inspection.terminal import fold
from seqlab.plotting import new_figure
from seqlab.text_table import aligned_table

WIDTH = 118  # characters of a line
INCHES = 9.0
HALF = INCHES / 2 + 0.4
LINE, TABLE_LINE = 0.2, 0.14  # inches of a line of the text, and of a table
CHARACTER = 0.072  # inches, in a table
MONOSPACE: dict[str, Any] = {"family": "monospace", "fontsize": 8, "parse_math": False}


class Part(NamedTuple):
    """A chart or a table, with its size in inches."""

    draw: Callable[[Any], None]
    width: float
    height: float
    fills: bool  # the whole width, where it stands alone


def draw_sheets(sheets: Sequence[Sheet]) -> Any:
    """The figure, as high as it needs to be, with the sheets one below another."""
    plans = [_Plan(sheet) for sheet in sheets]
    figure = new_figure(INCHES, sum(plan.height for plan in plans))
    if len(plans) == 1:
        plans[0].draw(figure)
    else:
        parts = figure.subfigures(len(plans), 1, height_ratios=[plan.height for plan in plans])
        for plan, part in zip(plans, parts, strict=True):
            plan.draw(part)
    return figure


class _Plan:
    """What a sheet needs, from top to bottom, in inches. What takes half of the width stands side by side."""

    def __init__(self, sheet: Sheet):
        self.sheet, self.margin = sheet, max(map(len, sheet.lanes), default=-2) + 2
        self.lines = list(fold(sheet.columns, WIDTH - self.margin))
        charts = [*sheet.charts, *(map_charts(sheet.maps) if sheet.maps else [])]
        parts = [Part(chart.draw, *chart.size, fills=True) for chart in charts]
        self.rows = list(_side_by_side(parts + [_table(block) for block in sheet.blocks]))
        lanes = len(self.lines) * (1 + len(sheet.lanes) + bool(sheet.lanes))
        self.heights = [LINE * (lanes + 0.5)] if self.lines else []
        self.heights += [LINE] if sheet.legend else []
        self.heights += [max(map(_height, row)) for row in self.rows]

    @property
    def height(self) -> float:
        return sum(self.heights) + 0.6

    def draw(self, figure: Any) -> None:
        sheet = self.sheet
        figure.suptitle(fill(sheet.sentence, WIDTH), fontsize=9, parse_math=False)
        grid = figure.add_gridspec(len(self.heights), 2, height_ratios=self.heights)
        at = iter(range(len(self.heights)))
        if self.lines:
            _draw_text(figure.add_subplot(grid[next(at), :]), self.lines, sheet.lanes, self.margin)
        if sheet.legend:
            _draw_legend(figure.add_subplot(grid[next(at), :]), sheet)
        for row in self.rows:
            place = next(at)
            for number, stack in enumerate(row):
                alone = len(row) == 1 and stack[0].fills
                _draw_stack(figure, grid[place, slice(None) if alone else number], stack, max(map(_height, row)))


def _side_by_side(parts: Sequence[Part]) -> Iterator[list[list[Part]]]:
    """Rows of one or two stacks: what takes half of the width goes where there is more room, the rest stands alone."""
    stacks: list[list[Part]] = []
    for part in parts:
        if part.width > HALF:
            yield from filter(None, [stacks])
            yield [[part]]
            stacks = []
        elif len(stacks) < 2:
            stacks.append([part])
        else:
            min(stacks, key=_height).append(part)
    yield from filter(None, [stacks])


def _height(stack: Sequence[Part]) -> float:
    return sum(part.height for part in stack)


def _draw_stack(figure: Any, place: Any, stack: Sequence[Part], height: float) -> None:
    """From top to bottom; what is left below stays empty."""
    rest = height - _height(stack)
    heights = [part.height for part in stack] + ([rest] if rest > 0.1 and not stack[-1].fills else [])
    grid = place.subgridspec(len(heights), 1, height_ratios=heights)
    for number, part in enumerate(stack):
        part.draw(figure.add_subplot(grid[number]))


def _table(block: TextTable) -> Part:
    text = f"{block.title}\n{aligned_table(block.rows, block.texts)}"
    lines = text.split("\n")
    width = CHARACTER * max(map(len, lines))
    font = MONOSPACE | {"fontsize": MONOSPACE["fontsize"] * min(1.0, INCHES / width)}

    def draw(axes: Any) -> None:
        axes.set_axis_off()
        axes.text(0, 1, text, va="top", transform=axes.transAxes, in_layout=False, **font)  # its place is known

    return Part(draw, width, TABLE_LINE * (len(lines) + 2), fills=False)


def _draw_legend(axes: Any, sheet: Sheet) -> None:
    """The shades from the weakest to the strongest, and what they mean."""
    from matplotlib.patches import Rectangle

    shades = scale(sheet)
    for x, shade in enumerate(shades):
        axes.add_patch(Rectangle((x, 0.2), 1, 0.6, facecolor=color(shade), edgecolor="#e1e4e8", linewidth=0.4))
    axes.text(len(shades) + bool(shades), 0.5, sheet.legend, va="center", color="#5a6169", fontsize=8, parse_math=False)
    axes.set(xlim=(0, WIDTH), ylim=(0, 1))
    axes.set_axis_off()


def _draw_text(axes: Any, lines: Sequence[Sequence[TokenColumn]], lanes: Sequence[str], margin: int) -> None:
    y = 0
    for columns in lines:
        x = margin
        for lane, name in enumerate(lanes, 1):
            axes.text(0, y + lane + 0.5, name, va="center", color="#5a6169", **MONOSPACE)
        for column in columns:
            width = column.width
            for row, (shade, content) in enumerate([(column.shade, column.token), *column.cells]):
                _draw_cell(axes, x, y + row, width, shade, content)
            x += width
        y += 1 + len(lanes) + bool(lanes)
    axes.set(xlim=(0, WIDTH), ylim=(y + 0.2, -0.2))
    axes.set_axis_off()


def _draw_cell(axes: Any, x: int, y: int, width: int, shade: int, content: str) -> None:
    from matplotlib.patches import Rectangle

    if shade:
        axes.add_patch(Rectangle((x, y + 0.04), width, 0.92, color=color(shade), linewidth=0))
    ink = "white" if shade < -LEVELS // 2 else "black"
    for at, character in enumerate(content):
        axes.text(x + at + 0.5, y + 0.5, character, ha="center", va="center", color=ink, **MONOSPACE)
