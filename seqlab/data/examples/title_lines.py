"""A table below a title, as spreadsheets export it: the header is not the first line."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from seqlab.data.examples.columns import LABELED, PAIRS, is_name, known_columns
from seqlab.data.examples.delimiters import DELIMITERS, split_fields, usual_delimiter
from seqlab.data.examples.lines import quote_list, suffix
from seqlab.data.new_files import new_file

MAX_TITLES = 5  # lines above the header
FEWEST_COLUMNS = 3  # of a header with other names than those of texts and answers
MIN_ROWS = 5  # below titles and of one width, the header among them
MOST = 0.8  # the share of such lines among those with several fields


def header_below(path: Path, lines: Sequence[str]) -> str | None:
    """Which of the first lines looks like the header, where the first does not, and how to remove those above it."""
    first, *below = lines[: MAX_TITLES + 1] or [""]
    if _names(first):
        return None
    wider = _wider_line(path, lines)
    for number, line in enumerate(below, 2):
        if names := _names(line) or (wider[1] if wider and wider[0] == number else []):
            source, rest = shlex.quote(str(path)), f"tail -n +{number}"
            command = f"gzip -dc {source} | {rest}" if path.suffix == ".gz" else f"{rest} {source}"
            above = "line 1" if number == 2 else f"lines 1 to {number - 1}"
            return (
                f"line {number} of {path.name} looks like the header ({quote_list(names, 10)}), and {above} like a "
                f"title: {command} > {new_file(suffix(path))}"
            )
    return None


def _wider_line(path: Path, lines: Sequence[str]) -> tuple[int, list[str]] | None:
    """The first line with as many fields as most, where it names them all, with numbers below it, and the first has
    half of them at most, as the account above the rows of a bank."""
    for delimiter in (usual_delimiter(path), *DELIMITERS):
        rows = [[field.strip() for field in split_fields(line, delimiter)] for line in lines]
        widths = [len(fields) for fields in rows if len(fields) > 1]
        usual, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
        number = next((number for number, fields in enumerate(rows, 1) if len(fields) == usual), 0)
        if usual < FEWEST_COLUMNS or count < MOST * len(widths) or count < MIN_ROWS or 2 * len(rows[0]) > usual:
            continue
        names, below = rows[number - 1], [fields for fields in rows[number:] if len(fields) == usual]
        differs = any(all(map(_has_digits, column)) for column in zip(*below, strict=True))  # from what is below
        if differs and all(names) and len({*names}) == usual and not any(map(_has_digits, names)):
            return number, names
    return None


def _has_digits(field: str) -> bool:
    return any(map(str.isdigit, field))


def _names(line: str) -> list[str]:
    """The names of columns in a line, if two of them are those of texts and answers; else nothing."""
    for delimiter in DELIMITERS:
        fields = [field.strip() for field in split_fields(line, delimiter)]
        filled = [field for field in fields if field]
        if len(filled) > 1 and all(map(is_name, filled)) and any(known_columns(filled, p) for p in (LABELED, PAIRS)):
            return filled
    return []
