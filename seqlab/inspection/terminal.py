"""A sheet in a terminal: the text with its colors, lanes under it, and tables."""

from collections.abc import Iterator, Sequence

from rich.cells import set_cell_size
from rich.console import Group, RenderableType
from rich.text import Text

from seqlab.inspection.shades import LEVELS, color, terminal_style
from seqlab.inspection.sheet import Sheet, TokenColumn
from seqlab.text_table import aligned_table

WIDTH = 96  # characters of a line
BARS = " ▁▂▃▄▅▆▇█"


def render(sheet: Sheet) -> RenderableType:
    parts: list[RenderableType] = [Text(sheet.name, style="bold"), *_lines(sheet)]
    if sheet.legend:
        parts.append(Text(f"({sheet.legend})", style="dim"))
    parts.append(Text(sheet.sentence))
    for block in sheet.blocks:
        parts += [Text(f"\n{block.title}", style="bold"), Text(aligned_table(block.rows, block.texts), no_wrap=True)]
    return Group(*parts)


def _lines(sheet: Sheet) -> Iterator[Text]:
    """The text, folded, each line of it with its lanes below; their names stand at the left."""
    margin = max(map(len, sheet.lanes), default=-2) + 2
    for columns in fold(sheet.columns, WIDTH - margin):
        widths = [column.width for column in columns]
        line = Text(" " * margin)
        for column, width in zip(columns, widths, strict=True):
            line.append(set_cell_size(column.token, width), terminal_style(column.shade))
        yield line
        for lane, name in enumerate(sheet.lanes):
            line = Text(name.ljust(margin), style="dim")
            for column, width in zip(columns, widths, strict=True):
                shade, content = column.cells[lane]
                if content:
                    line.append(set_cell_size(content, width), terminal_style(shade) or "not dim")
                else:  # as high as the number is large, so that it can be read without colors
                    line.append(BARS[max(0, shade)] * width, f"not dim {color(LEVELS)}")
            yield line
        if sheet.lanes:
            yield Text("")


def fold(columns: Sequence[TokenColumn], width: int) -> Iterator[list[TokenColumn]]:
    """Lines of columns; a newline ends its line."""
    line: list[TokenColumn] = []
    used = 0
    for column in columns:
        if line and used + column.width > width:
            yield line
            line, used = [], 0
        line.append(column)
        used += column.width
        if column.breaks:
            yield line
            line, used = [], 0
    if line:
        yield line
