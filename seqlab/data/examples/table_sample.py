"""The beginning of a table: enough to tell what it is for, and which columns to suggest."""

import csv
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.data.drawn_tables import drawn_table
from seqlab.data.examples.columns import LABELED, is_name, known_columns
from seqlab.data.examples.csv_records import read_csv
from seqlab.data.examples.delimiters import detect_delimiter, usual_delimiter
from seqlab.data.examples.json_lines import TableRow, keys_of, parse_object
from seqlab.data.examples.lines import JSON_LINES, BadRow, Location, suffix
from seqlab.data.examples.odd_values import may_be_missing
from seqlab.data.examples.parquet_rows import read_parquet
from seqlab.data.examples.quoting import read_tabbed
from seqlab.data.examples.row_ends import without_ends
from seqlab.data.files import read_beginning
from seqlab.data.parquet_files import PARQUET

SAMPLE_BYTES = 64 * 1024
SAMPLE_ROWS = 100
MIN_ROWS = 4  # in which a label is seen to repeat


@dataclass(frozen=True)
class TableSample:
    """The fields of the first line of a table, and the first rows by column, without columns of the same name; those of
    a table without a header are numbered in the rows."""

    names: list[str]
    rows: Sequence[Mapping[str, Any]]
    header: bool = True

    @property
    def is_scattered(self) -> bool:
        """Whether no row has two fields, so that none is an example."""
        filled = [sum(value not in (None, "") for value in row.values()) for row in self.rows]
        return len({name for row in self.rows for name in row}) > 1 and max(filled) < 2


def sample_table(path: Path) -> TableSample:
    """The beginning of a table, nothing if there is no line or too long a one; ValueError, csv.Error or an error of
    reading if the first line is no header."""
    if suffix(path) == PARQUET:
        stored = read_parquet(path, SAMPLE_ROWS)
        return TableSample(stored.names, [row.fields for row in stored.rows])
    lines, _ = read_beginning(path, SAMPLE_BYTES)
    filled = [line for line in lines if line.strip()]
    if not filled:
        return TableSample([], [])
    if suffix(path) in JSON_LINES:
        if not isinstance(json.loads(filled[0]), dict):
            raise ValueError("not an object")
        rows = [parse_object(Location(path, 1), line) for line in filled[:SAMPLE_ROWS]]
        objects = [row.fields for row in rows if isinstance(row, TableRow)]
        return TableSample(keys_of(objects), objects)
    if table := drawn_table(lines):
        header, *rows = table.rows.values()
    else:
        records = _records(path, lines)
        if not records:
            return TableSample([], [])
        header, *rows = records
    names, rows, _ = without_ends([name.strip() for name in header], rows[:SAMPLE_ROWS])
    rows = [[field.strip() for field in row] for row in rows if len(row) == len(names)]
    rows = [row for row in rows if row != names]
    if _is_header(names, rows):
        numbers = Counter(names)
        named = [{name: field for name, field in zip(names, row, strict=True) if numbers[name] == 1} for row in rows]
        return TableSample(names, named)
    columns = [str(number) for number in range(1, len(names) + 1)]
    return TableSample(names, [dict(zip(columns, row, strict=True)) for row in (names, *rows)], header=False)


def _records(path: Path, lines: Sequence[str]) -> list[list[str]]:
    """The fields of the header and of the rows that can be read; csv.Error if the header cannot."""
    delimiter, named, comments = detect_delimiter(lines, usual_delimiter(path))
    filled = [line for place, line in enumerate(lines) if line.strip() and place not in (named, *comments)]
    if delimiter == "\t" and suffix(path) != ".csv":
        records = read_tabbed(path, filled, len(filled)).records if filled else []
        return [record[1] for record in records if not isinstance(record, BadRow)]
    header = [next(csv.reader([line], delimiter=delimiter, strict=True)) for line in filled[:1]]
    records = read_csv(path, filled, delimiter, len(filled)).records[1:]
    return header + [record[1] for record in records if not isinstance(record, BadRow)]


def _is_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line names columns: single words, or none of the values that a column of labels repeats. Words
    that a line repeats, or numbers, are values if the columns have them too, except in order."""
    columns = [[row[place] for row in rows] for place in range(len(names))]
    filled = [name for name in names if name]
    if are_counted(names):
        return True
    if all(map(is_name, filled)):
        doubtful = len(set(filled)) < len(filled) or any(name.isdigit() for name in filled)
        repeated = any(name in values for name, values in zip(names, columns, strict=True) if name)
        return bool(filled) and not (doubtful and repeated)
    if any(name in values for name, values in zip(names, columns, strict=True)):
        return False
    return any(len(values) >= MIN_ROWS and 2 * len(set(values)) <= len(values) for values in columns)


def are_counted(names: Sequence[str]) -> bool:
    """Whether columns are named 0, 1, 2, ... or 1, 2, 3, ..., as pandas writes them if nobody names them."""
    return len(names) > 1 and any(list(names) == [str(start + at) for at in range(len(names))] for start in (0, 1))


def lacks_header(path: Path) -> bool:
    """Whether the first line of a table looks like data."""
    try:
        return not sample_table(path).header
    except (OSError, EOFError, zlib.error, ValueError, csv.Error):
        return False  # its beginning is no sample of it


def is_surely_header(path: Path) -> bool:
    """Whether the first line of a table looks like a header, and enough rows, or its numbers in order, say so."""
    try:
        sample = sample_table(path)
    except (OSError, EOFError, zlib.error, ValueError, csv.Error):
        return True  # reading says what is wrong
    return sample.header and (len(sample.rows) >= MIN_ROWS or are_counted(sample.names))


def can_be_joined(paths: Sequence[Path]) -> bool:
    """Whether tables have the same columns, and none of them only labels that stand for missing ones, as test rows
    without answers; those that cannot be read are refused elsewhere."""
    try:
        samples = [sample_table(path) for path in paths]
        same = len({frozenset(sample.names) for sample in samples}) <= 1
        return same and not any(map(_lacks_labels, samples))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, csv.Error):
        return True


def _lacks_labels(sample: TableSample) -> bool:
    columns = known_columns(sample.names, LABELED)
    labels = [str(row.get(columns[1], "")) for row in sample.rows] if columns else []
    return bool(labels) and all(map(may_be_missing, labels))
