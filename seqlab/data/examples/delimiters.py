"""What separates the fields of a table: the delimiter with which its rows are as long as its header."""

import csv
import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from seqlab.data.examples.columns import is_name
from seqlab.data.examples.lines import suffix

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel may name the delimiter in a line above the header
SAMPLE_LINES = 200


class Delimited(NamedTuple):
    """What separates the fields, and the places of lines above the header: one that names it, or comments."""

    delimiter: str
    named: int | None = None
    comments: Sequence[int] = ()


def detect_delimiter(lines: Sequence[str], usual: str) -> Delimited:
    """The delimiter of the most rows; the usual one of the suffix if another fits no better.

    Lines above the header that begin with # are comments, unless they name as many columns as the next line has."""
    filled = {place: line for place, line in enumerate(lines[:SAMPLE_LINES]) if line.strip()}
    first = next(iter(filled), 0)
    if filled and (named := EXCEL.fullmatch(filled[first].strip(" "))):
        return Delimited(named[1], named=first)
    marked = dict(takewhile(lambda item: item[1].startswith("#"), filled.items()))
    rows = [line for place, line in filled.items() if place not in marked]
    if not rows:
        return Delimited(_best_delimiter([*filled.values()], usual))
    delimiter = _best_delimiter(rows, usual)
    width = len(split_fields(rows[0], delimiter))
    comments = [place for place, line in marked.items() if not _names_columns(line, delimiter, width)]
    return Delimited(delimiter, comments=comments)


def _names_columns(line: str, delimiter: str, width: int) -> bool:
    fields = split_fields(line.lstrip("# "), delimiter)
    return len(fields) == width and all(is_name(field.strip()) for field in fields)


def usual_delimiter(path: Path) -> str:
    return "," if suffix(path) == ".csv" else "\t"


def split_fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line, none if it is broken."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _best_delimiter(filled: Sequence[str], usual: str) -> str:
    best, most = usual, 0.0
    for delimiter in (usual, *(one for one in DELIMITERS if one != usual)):
        try:
            widths = [len(fields) for fields in csv.reader(filled, delimiter=delimiter) if fields]
        except csv.Error:
            continue
        share = sum(width == widths[0] for width in widths) / len(widths) if widths and widths[0] > 1 else 0.0
        if share > most:
            best, most = delimiter, share
    return best
