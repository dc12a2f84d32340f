"""The beginning of a table: enough to tell what it is for, and which columns to suggest."""

import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.data.alike import NUMBER
from seqlab.data.drawn_tables import drawn_table
from seqlab.data.examples.columns import LABELED, PAIRS, columns_option, is_name, known_columns
from seqlab.data.examples.csv_records import read_csv
from seqlab.data.examples.delimiters import detect_delimiter, usual_delimiter
from seqlab.data.examples.json_lines import TableRow, keys_of, parse_object
from seqlab.data.examples.lines import JSON_LINES, BadRow, Location, quote_list, suffix
from seqlab.data.examples.odd_values import may_be_missing
from seqlab.data.examples.parquet_rows import read_parquet
from seqlab.data.examples.quoting import read_tabbed
from seqlab.data.examples.row_ends import without_ends
from seqlab.data.files import read_beginning
from seqlab.data.parquet_files import PARQUET

SAMPLE_BYTES = 64 * 1024
SAMPLE_ROWS = 100
MIN_ROWS = 4  # in which a label is seen to repeat
KNOWN = {*LABELED.first, *LABELED.second, *PAIRS.first, *PAIRS.second}  # names of columns
NUMBERS = re.compile(r"\d+")


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
    return sample_rows(header, rows)


def sample_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> TableSample:
    """The same of the fields of the first line and of those below it."""
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
    """Whether the first line names columns: it has none of their values, and single words, or a name of labels or of
    numbers."""
    columns = [[row[place] for row in rows] for place in range(len(names))]
    filled = [name for name in names if name]
    if are_counted(names):
        return True
    if _has_values(names, columns):
        return False
    named = [values for name, values in zip(names, columns, strict=True) if name]
    if all(map(is_name, filled)):
        return bool(filled)
    return any(map(_has_labels, named)) or any(
        _are_below(name, values) for name, values in zip(filled, named, strict=True)
    )


def _are_below(name: str, values: Sequence[str]) -> bool:
    """Whether there are numbers below a name that is none."""
    return len(values) >= MIN_ROWS and all(map(NUMBER.fullmatch, values)) and not NUMBER.fullmatch(name)


def _has_values(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the first line has values of its columns. A single word may occur among them and still be a name, unless
    it is a number, the line repeats it, or the line is like those below it."""
    filled = [name for name in names if name]
    repeated = any(name in values for name, values in zip(names, columns, strict=True) if name)
    if not all(map(is_name, filled)):
        return repeated
    doubtful = len(set(filled)) < len(filled) or any(name.isdigit() for name in filled)
    return (doubtful and repeated) or _is_row_of_words(names, columns)


def _is_row_of_words(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether single words, of which none is a known name, are a row like those below: single words as well, and a
    label that its column repeats, or a numbered name as in all its column."""
    if any(name.casefold() in KNOWN for name in names):
        return False
    if not all(2 * sum(is_name(value) for value in values) > len(values) >= MIN_ROWS for values in columns):
        return False
    pairs = list(zip(names, columns, strict=True))
    labels = any(_has_labels(values) and name in values for name, values in pairs)
    return labels or any(_is_numbered(name) and _are_numbered_alike(name, values) for name, values in pairs)


def _has_labels(values: Sequence[str]) -> bool:
    return len(values) >= MIN_ROWS and 2 * len(set(values)) <= len(values)


def _is_numbered(name: str) -> bool:
    return NUMBERS.search(name) is not None and not name.isdigit()


def _are_numbered_alike(name: str, values: Sequence[str]) -> bool:
    return all(NUMBERS.sub("0", value) == NUMBERS.sub("0", name) for value in values)


def header_notes(
    header: Location, names: Sequence[str], rows: Sequence[Sequence[str]], requested: Sequence[str]
) -> list[str]:
    """A note if columns were requested by the words of the first line, and these look like data."""
    sample = [[field.strip() for field in row] for row in rows[:SAMPLE_ROWS] if len(row) == len(names)]
    if not _has_values(names, [[row[place] for row in sample] for place in range(len(names))]):
        return []
    known = [name.casefold() for name in names]
    numbers = [str(known.index(name.casefold()) + 1) for name in requested if name.casefold() in known]
    option = f"--column {numbers[0]}" if len(numbers) == 1 else columns_option(numbers)
    return [
        f"{header}: taken as the header, since columns are named by it, and it looks like data: "
        f"{quote_list(names, 4)}. To read it as data, number the columns: {option}"
    ]


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
