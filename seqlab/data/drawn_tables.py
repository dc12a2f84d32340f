"""Tables as programs draw them for people: bars between padded cells, a rule below the header, perhaps a box around.

psql, the mysql client and Markdown have them. Nothing is in quotes there; a bar within a cell is written \\|."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_DASHES = r"(?::?[-=]{2,}:?|:-:?|-:)"
RULE = re.compile(rf"[|+]? *{_DASHES} *(?:[|+] *{_DASHES} *)+[|+]?")  # of two columns or more
ROW_COUNT = re.compile(r"\([\d,.]+ rows?\)|[\d,.]+ rows? in set.*")
BAR = re.compile(r"(?<!\\)\|")
MAX_TITLES = 5  # lines above the header


class DrawnTable(NamedTuple):
    """The cells of the header and of the rows by the places of their lines, and the places of the other lines."""

    rows: Mapping[int, list[str]]
    drawn: Sequence[int]  # rules, and the number of rows
    titles: Sequence[int]
    below: Sequence[int]  # lines without a bar, such as the source of a table

    @property
    def widths(self) -> list[int]:
        """The number of cells of each row, and of each line below the header that is none."""
        return [*map(len, self.rows.values()), *([1] * len(self.below))]


def drawn_table(lines: Sequence[str]) -> DrawnTable | None:
    """The table that a program drew, perhaps between other lines; None if the lines are no such table."""
    filled = {place: line.strip() for place, line in enumerate(lines) if line.strip()}
    header = _header(filled)
    if header is None:
        return None
    drawn = {place: line for place, line in filled.items() if RULE.fullmatch(line) or ROW_COUNT.fullmatch(line)}
    others = {place: line for place, line in filled.items() if place not in drawn}
    rows = {place: line for place, line in others.items() if place >= header and BAR.search(line)}
    first = rows[header]
    box = first.startswith("|"), first.endswith("|")
    titles = [place for place in others if place < header]
    below = [place for place in others if place > header and place not in rows]
    return DrawnTable({place: _cells(line, *box) for place, line in rows.items()}, [*drawn], titles, below)


def _header(filled: Mapping[int, str]) -> int | None:
    """The place of the line above the first rule, or between the first two of a box; lines above it have no bars."""
    places = [*filled][: MAX_TITLES + 2]
    rule = next((at for at, place in enumerate(places) if RULE.fullmatch(filled[place])), None)
    if rule is None:
        return None
    boxed = rule == 0 or filled[places[rule]].startswith("+")
    at = rule + 1 if boxed else rule - 1
    is_row = [BAR.search(filled[place]) is not None for place in places]
    above = [row for place, row in zip(places[:at], is_row, strict=False) if not RULE.fullmatch(filled[place])]
    return places[at] if at < len(places) and is_row[at] and not any(above) else None


def _cells(line: str, opened: bool, closed: bool) -> list[str]:
    """The cells of a row, without what is outside the bars of a box: Markdown lets a row leave these bars out."""
    cells = [cell.replace("\\|", "|") for cell in BAR.split(line)]
    begin = 1 if opened and not cells[0].strip() else 0
    end = len(cells) - 1 if closed and not cells[-1].strip() else len(cells)
    return cells[begin:end]
