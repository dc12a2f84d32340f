"""Tables as programs draw them for people: bars between padded cells, a rule below the header, perhaps a box around.

psql, the mysql client and Markdown have them."""

import re
from collections.abc import Sequence

RULE = re.compile(r"[|+]?[ :]*[-=]{2,}[ :]*(?:[|+][ :]*[-=]{2,}[ :]*)+[|+]?")  # of two columns or more
ROW_COUNT = re.compile(r"\([\d,.]+ rows?\)|[\d,.]+ rows? in set.*")
BEFORE_RULE = 3  # among so many lines there is a rule


def drawn_lines(lines: Sequence[str]) -> list[int]:
    """The places of the lines that a program drew around the rows: rules, and the number of rows; none for others."""
    filled = {place: line.strip() for place, line in enumerate(lines) if line.strip()}
    first = [*filled.values()][:BEFORE_RULE]
    header = next((line for line in first if not RULE.fullmatch(line)), "")
    if "|" not in header or not any(map(RULE.fullmatch, first)):
        return []
    return [place for place, line in filled.items() if RULE.fullmatch(line) or ROW_COUNT.fullmatch(line)]


def undraw(records: Sequence[Sequence[str]]) -> list[list[str]]:
    """The records without the padding of cells, and without the cells outside the bars of a box."""
    bare = [[field.strip() for field in record] for record in records]
    boxed = bool(bare) and all(len(record) > 2 and not record[0] and not record[-1] for record in bare)
    return [record[1:-1] for record in bare] if boxed else bare
