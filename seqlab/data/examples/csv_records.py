"""The records of a table whose fields may be in quotes, as in CSV: a record may span several lines.

Quotes within a field are doubled. Spark and MySQL escape them by backslashes instead: a file is read so if fewer
records are broken then. A broken record ends where broken_records.py finds its end, and reading goes on below.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.data.examples.broken_records import BrokenRecords
from seqlab.data.examples.lines import BadRow, Location
from seqlab.wording import counted

MAX_FIELD = 2**31 - 1  # characters; the csv module's default is 131,072
COUNTED = 10_000  # broken records beyond the limit, so that the message has their number
MAX_RECORD_LINES = 10_000  # of one record
ESCAPED_QUOTE = '\\"'
BACKSLASH = re.compile(r'\\(["\\]|$)|\\')  # with what it escapes, if it does

FAULTS = {  # by what the csv module says
    "new-line character seen": "a carriage return (CR) outside quotes",
    "unexpected end of data": "a quote is not closed",
    "expected after": "text follows a closing quote",
}

Record = tuple[Location, list[str]]


class CsvRecords(NamedTuple):
    """The records of a table, and a note on quotes that backslashes escape, if there are any."""

    records: list[Record | BadRow]
    note: str | None = None


def csv_fault(error: csv.Error) -> str:
    """What is wrong with a record, in our words."""
    return next((words for part, words in FAULTS.items() if part in str(error)), str(error))


def read_csv(path: Path, lines: Sequence[str], delimiter: str, skip: int) -> CsvRecords:
    """The records of lines; reading stops where far more than `skip` are broken."""
    records = _read(path, lines, delimiter, skip, escapes=False)
    broken = _count_broken(records)
    if not broken or not any(ESCAPED_QUOTE in line for line in lines):
        return CsvRecords(records)
    escaped = _read(path, lines, delimiter, skip, escapes=True)
    if _count_broken(escaped) >= broken:
        return CsvRecords(records)
    begins = [(record.location if isinstance(record, BadRow) else record[0]).line - 1 for record in escaped]
    ends = [*begins[1:], len(lines)]
    spans = zip(escaped, begins, ends, strict=True)
    read = [lines[begin:end] for record, begin, end in spans if not isinstance(record, BadRow)]
    number = sum(any(ESCAPED_QUOTE in line for line in some) for some in read)
    has = f"{counted(number, 'record')} {'has' if number == 1 else 'have'}"
    note = f"{path.name}: {has} quotes escaped by backslashes, as Spark and MySQL write them: {ESCAPED_QUOTE} is read"
    return CsvRecords(escaped, f'{note} as "')


def _read(path: Path, lines: Sequence[str], delimiter: str, skip: int, escapes: bool) -> list[Record | BadRow]:
    records: list[Record | BadRow] = []
    first = broken = width = 0
    ends = BrokenRecords(lines, delimiter)
    limit_before = csv.field_size_limit(MAX_FIELD)
    try:
        while first < len(lines) and broken <= skip + COUNTED:
            begin = first  # of this reader, which goes on until a record is broken
            bounded = _bounded(lines, begin, records, escapes)
            reader = csv.reader(bounded, delimiter=delimiter, escapechar="\\" if escapes else None, strict=True)
            try:
                for fields in reader:
                    width = width or (len(fields) if any(map(str.strip, fields)) else 0)
                    if begin + reader.line_num - first > 1 and len(fields) != width:
                        raise csv.Error(f"{len(fields)} fields in several lines, but the header has {width}")
                    records.append((Location(path, first + 1), fields))
                    first = begin + reader.line_num
            except csv.Error as error:
                end = ends.end_of(first, width)
                lines_of_it = f", to line {end}," if end > first + 1 else ""
                quoting = 'Put fields with delimiters, quotes or line ends in quotes: "so ""quoted"" here".'
                reason = f"this record{lines_of_it} is not CSV: {csv_fault(error)}. {quoting}"
                records.append(BadRow(Location(path, first + 1), reason))
                first, broken = end, broken + 1
    finally:
        csv.field_size_limit(limit_before)  # the limit is global
    return records


def _bounded(lines: Sequence[str], begin: int, records: Sequence[object], escapes: bool) -> Iterator[str]:
    """Lines from `begin` on; csv.Error if so many of them in a row complete no record."""
    known, number_before = len(records), begin
    for number in range(begin, len(lines)):
        if len(records) > known:
            known, number_before = len(records), number
        if number - number_before >= MAX_RECORD_LINES:
            raise csv.Error(f"a quote is not closed within {MAX_RECORD_LINES:,} lines")
        yield (_with_other_backslashes(lines[number]) if escapes else lines[number]) + "\n"


def _with_other_backslashes(line: str) -> str:
    """A line where backslashes that escape neither a quote, nor a backslash, nor the end of the line are escaped: the
    csv module would drop them."""
    return BACKSLASH.sub(lambda match: r"\\" if match[1] is None else match[0], line)


def _count_broken(records: Sequence[Record | BadRow]) -> int:
    """How many records are no CSV, or have another number of fields than the first one."""
    filled = [record for record in records if isinstance(record, BadRow) or any(map(str.strip, record[1]))]
    widths = [None if isinstance(record, BadRow) else len(record[1]) for record in filled]
    width = next((width for width in widths if width is not None), None)
    return sum(one is None or one != width for one in widths)
