"""What separates the fields of a table: the delimiter with which its rows are as long as its header.

The records of a CSV file may span several lines. A record with broken quotes, or a long one that does not fit the
header, is broken in its first line only: reading goes on with the next line.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from seqlab.data.examples.columns import is_name
from seqlab.data.examples.lines import BadRow, Location, suffix

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel may name the delimiter in a line above the header
SAMPLE_LINES = 200
MAX_FIELD = 2**31 - 1  # characters; the csv module's default is 131,072
COUNTED = 10_000  # broken records beyond the limit, so that the message has their number
MAX_RECORD_LINES = 10_000  # of one record

FAULTS = {  # by what the csv module says
    "new-line character seen": "a carriage return (CR) outside quotes",
    "unexpected end of data": "a quote is not closed",
    "expected after": "text follows a closing quote",
}

Record = tuple[Location, list[str]]


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


def csv_fault(error: csv.Error) -> str:
    """What is wrong with a record, in our words."""
    return next((words for part, words in FAULTS.items() if part in str(error)), str(error))


def read_records(path: Path, lines: Sequence[str], delimiter: str, skip: int) -> list[Record | BadRow]:
    """The records of a CSV file; reading stops where far more than `skip` are broken."""
    records: list[Record | BadRow] = []
    first = broken = width = 0
    limit_before = csv.field_size_limit(MAX_FIELD)
    try:
        while first < len(lines) and broken <= skip + COUNTED:
            begin = first  # of this reader, which goes on until a record is broken
            reader = csv.reader(_bounded(lines, begin, records), delimiter=delimiter, strict=True)
            try:
                for fields in reader:
                    width = width or (len(fields) if any(map(str.strip, fields)) else 0)
                    if begin + reader.line_num - first > 1 and len(fields) != width:
                        raise csv.Error(f"{len(fields)} fields in several lines, but the header has {width}")
                    records.append((Location(path, first + 1), fields))
                    first = begin + reader.line_num
            except csv.Error as error:
                quoting = 'Put fields with delimiters, quotes or line ends in quotes: "so ""quoted"" here".'
                records.append(
                    BadRow(Location(path, first + 1), f"this record is not CSV: {csv_fault(error)}. {quoting}")
                )
                first, broken = first + 1, broken + 1
    finally:
        csv.field_size_limit(limit_before)  # the limit is global
    return records


def _bounded(lines: Sequence[str], begin: int, records: Sequence[object]) -> Iterator[str]:
    """Lines from `begin` on; csv.Error if so many of them in a row complete no record."""
    known, number_before = len(records), begin
    for number in range(begin, len(lines)):
        if len(records) > known:
            known, number_before = len(records), number
        if number - number_before >= MAX_RECORD_LINES:
            raise csv.Error(f"a quote is not closed within {MAX_RECORD_LINES:,} lines")
        yield lines[number] + "\n"
