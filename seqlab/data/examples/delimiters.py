"""What separates the fields of a table: the delimiter with which its rows are as long as its header.

The records of a CSV file may span several lines. A record with broken quotes, or a long one that does not fit the
header, is broken in its first line only: reading goes on with the next line.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from seqlab.data.examples.lines import BadRow, Location

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel may name the delimiter in a line above the header
SAMPLE_LINES = 200
MAX_FIELD = 2**31 - 1  # characters; the csv module's default is 131,072
COUNTED = 10_000  # broken records beyond the limit, so that the message has their number
MAX_RECORD_LINES = 10_000  # of one record

Record = tuple[Location, list[str]]


def detect_delimiter(lines: Sequence[str], usual: str) -> str:
    """The delimiter of the most rows; the usual one of the suffix if another fits no better."""
    filled = [line for line in lines[:SAMPLE_LINES] if line.strip()]
    if filled and (named := named_delimiter(filled[0])):
        return named
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


def named_delimiter(line: str) -> str | None:
    """The delimiter that the first line of a file names, if it is Excel's line for that."""
    named = EXCEL.fullmatch(line.strip(" "))
    return named[1] if named else None


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
                records.append(BadRow(Location(path, first + 1), f"this record is not CSV: {error}. {quoting}"))
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
