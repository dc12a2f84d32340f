"""Fields of a tab-separated table: as they are, or in quotes, as spreadsheets and pandas write them.

TSV has no quoting, and texts begin and end with quotes of their own. So quotes belong to the format only if they are
consistent: the whole header is in quotes, or rows are complete only so, or quotes within quotes are doubled.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.data.examples.csv_records import Record, read_csv
from seqlab.data.examples.lines import BadRow, Location
from seqlab.wording import counted

DOUBLED = re.compile(r'"(?:[^"]*"")+[^"]*"')  # a field in quotes, with doubled quotes in it


class TabbedRecords(NamedTuple):
    """The records of a table, and notes on the quotes around its fields and within, if there are any."""

    records: Sequence[Record | BadRow]
    note: str | None = None
    escaped: str | None = None


def read_tabbed(path: Path, lines: Sequence[str], skip: int) -> TabbedRecords:
    """The records of lines whose fields are separated by tabs; reading stops where far more than `skip` are broken."""
    plain: list[Record] = [(Location(path, number), line.split("\t")) for number, line in enumerate(lines, 1)]
    filled = [fields for _, fields in plain if any(map(str.strip, fields))]
    if not any(field.startswith('"') for fields in filled for field in fields):
        return TabbedRecords(plain)
    quoted, escaped = read_csv(path, lines, "\t", skip)
    width = len(filled[0])
    broken = [isinstance(record, BadRow) or len(record[1]) != width for record in quoted if not _is_blank(record)]
    if not isinstance(quoted[0], BadRow) and _belong(filled, broken):
        note = f"{path.name}: fields are in quotes, as in CSV, which are no part of them"
        return TabbedRecords(quoted, note, escaped)
    enclosed = sum(_is_enclosed(field) for fields in filled for field in fields)
    why = "if that is wrong, give the file a name that ends in .csv"
    if any(broken):
        why = "others have quotes that are not closed as in CSV"
    note = f"{path.name}: {counted(enclosed, 'field')} in quotes, which are read as part of the text: {why}"
    return TabbedRecords(plain, note if enclosed else None)


def _belong(plain: Sequence[Sequence[str]], broken: Sequence[bool]) -> bool:
    """Whether quotes belong to the format, by the fields without it and by which records are broken with it."""
    if all(map(_is_enclosed, plain[0])):
        return 2 * sum(broken) <= len(broken)
    if sum(broken) < sum(len(fields) != len(plain[0]) for fields in plain):
        return True
    doubled = any(DOUBLED.fullmatch(field.strip()) for fields in plain for field in fields)
    return doubled and not any(broken) and len(broken) == len(plain)


def _is_blank(record: Record | BadRow) -> bool:
    return not isinstance(record, BadRow) and not any(map(str.strip, record[1]))


def _is_enclosed(field: str) -> bool:
    return len(field.strip()) > 1 and field.strip()[0] == field.strip()[-1] == '"'
