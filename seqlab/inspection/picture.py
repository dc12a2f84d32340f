"""Sheets as a picture: its text in lines, lanes under them, tables and charts, from top to bottom."""

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Any

from seqlab.inspection.maps import map_charts
from seqlab.inspection.shades import LEVELS, color
from seqlab.inspection.sheet import Chart, Sheet, TextTable, TokenColumn
from seqlab.inspection.terminal import fold
from seqlab.plotting import new_figure
from seqlab.text_table import aligned_table

WIDTH = 118  # characters of a line
INCHES = 9.0
LINE, TABLE_LINE = 0.2, 0.14  # inches of a line of the text, and of a table
MONOSPACE = {"family": "monospace", "fontsize": 8, "parse_math": False}


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
    """What a sheet needs, from top to bottom, in inches. Charts stand side by side."""

    def __init__(self, sheet: Sheet):
        self.sheet, self.margin = sheet, max(map(len, sheet.lanes), default=-2) + 2
        self.lines = list(fold(sheet.columns, WIDTH - self.margin))
        self.texts = [_table(block) for block in sheet.blocks]
        self.charts = list(_side_by_side([*sheet.charts, *(map_charts(sheet.maps) if sheet.maps else [])]))
        lanes = len(self.lines) * (1 + len(sheet.lanes) + bool(sheet.lanes))
        self.heights = [LINE * (lanes + 0.5)] if self.lines else []
        self.heights += [TABLE_LINE * (text.count("\n") + 3) for text in self.texts]
        self.heights += [max(chart.size[1] for chart in some) for some in self.charts]

    @property
    def height(self) -> float:
        return sum(self.heights) + 0.8

    def draw(self, figure: Any) -> None:
        sheet = self.sheet
        title = fill(sheet.sentence, WIDTH) + (f"\n({sheet.legend})" if sheet.legend else "")
        figure.suptitle(title, fontsize=9, parse_math=False)
        grid = figure.add_gridspec(len(self.heights), 2, height_ratios=self.heights)
        rows = iter(range(len(self.heights)))
        if self.lines:
            _draw_text(figure.add_subplot(grid[next(rows), :]), self.lines, sheet.lanes, self.margin)
        for text in self.texts:
            axes = figure.add_subplot(grid[next(rows), :])
            axes.set_axis_off()
            axes.text(0, 1, text, va="top", transform=axes.transAxes, **MONOSPACE)
        for some in self.charts:
            row = next(rows)
            for number, chart in enumerate(some):
                chart.draw(figure.add_subplot(grid[row, number if len(some) > 1 else slice(None)]))


def _side_by_side(charts: Sequence[Chart]) -> Iterator[list[Chart]]:
    """In pairs, but for what is wide or the last one."""
    waiting: list[Chart] = []
    for chart in charts:
        if chart.size[0] > INCHES / 2 + 0.5:
            yield [chart]
        elif waiting:
            yield [waiting.pop(), chart]
        else:
            waiting.append(chart)
    if waiting:
        yield waiting


def _table(block: TextTable) -> str:
    return f"{block.title}\n{aligned_table(block.rows, block.texts)}"


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
