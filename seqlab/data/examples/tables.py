"""Labeled texts and pairs from tables: TSV, CSV and JSON lines.

The first line names the columns; in JSON lines, the keys of the first object do. columns.py finds the two to read.
TSV has no quoting: every tab separates fields.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from seqlab.data.examples.columns import LABELED, PAIRS, ColumnPair, find_columns
from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.groups import NONE, find_group_column, group_of
from seqlab.data.examples.lines import JSON_LINES, LocatedExample, Location, numbered_lines, quote_list, suffix
from seqlab.data.files import InputFixes
from seqlab.errors import DataError

MAX_FIELD = 2**31 - 1  # characters; the csv module's default is 131,072


@dataclass(frozen=True)
class TableRow:
    """The fields of one record by column, and the line where it begins."""

    location: Location
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class ExampleTable:
    """The names of the columns, the location of the header, and the rows, which can be read once."""

    header: Location
    names: list[str]
    rows: Iterable[TableRow]


def read_labeled(
    path: Path, columns: tuple[str, str] | None, fixes: InputFixes, groups: str = NONE
) -> list[LocatedExample]:
    """Texts and their labels; whitespace around labels is removed."""
    table = _open(path, LABELED, fixes)
    text, label = find_columns(table.names, LABELED, columns, table.header)
    group = find_group_column(table.names, groups, (text, label), table.header)
    return [
        LocatedExample(LabeledText(_text(row, text), _label(row, label)), row.location, group_of(row.fields, group))
        for row in table.rows
    ]


def read_pairs(
    path: Path, columns: tuple[str, str] | None, fixes: InputFixes, groups: str = NONE
) -> list[LocatedExample]:
    """Sources and targets."""
    table = _open(path, PAIRS, fixes)
    source, target = find_columns(table.names, PAIRS, columns, table.header)
    group = find_group_column(table.names, groups, (source, target), table.header)
    return [
        LocatedExample(TextPair(_text(row, source), _text(row, target)), row.location, group_of(row.fields, group))
        for row in table.rows
    ]


def header_names(suffix: str, line: str) -> list[str]:
    """The columns that a file's first line names; ValueError or csv.Error if it is not a header."""
    if suffix in JSON_LINES:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        return list(fields)
    fields = next(csv.reader([line], strict=True)) if suffix == ".csv" else line.split("\t")
    return [name.strip() for name in fields]


def _open(path: Path, pair: ColumnPair, fixes: InputFixes) -> ExampleTable:
    if suffix(path) in JSON_LINES:
        return _objects(path, fixes)
    records = _csv_records(path, fixes) if suffix(path) == ".csv" else _tsv_records(path, fixes)
    nonempty = ((location, fields) for location, fields in records if len(fields) > 1 or any(map(str.strip, fields)))
    header = next(nonempty, None)
    if header is None:
        raise DataError(f"'{path}' is empty. Expected a header line such as {pair.header}, and rows below it.")
    location, names = header[0], [name.strip() for name in header[1]]
    return ExampleTable(location, names, _rows(path, names, nonempty))


# --- separated fields -----------------------------------------------------------------------------------------------

Fields = tuple[Location, list[str]]


def _tsv_records(path: Path, fixes: InputFixes) -> Iterator[Fields]:
    for number, line in numbered_lines(path, fixes):
        yield Location(path, number), line.split("\t")


def _csv_records(path: Path, fixes: InputFixes) -> Iterator[Fields]:
    """The records of a CSV file, which may span several lines."""
    reader = csv.reader((line + "\n" for _, line in numbered_lines(path, fixes)), strict=True)
    records: list[Fields] = []
    first = 1
    limit_before = csv.field_size_limit(MAX_FIELD)
    try:
        for fields in reader:
            records.append((Location(path, first), fields))
            first = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{Location(path, first)}: this record is not CSV: {error}. Put fields with commas, quotes or line ends in "
            f'double quotes, and double every quote inside them: "so ""quoted"" here".'
        ) from None
    finally:
        csv.field_size_limit(limit_before)  # the limit is global
    return iter(records)


def _rows(path: Path, names: list[str], records: Iterable[Fields]) -> Iterator[TableRow]:
    empty = True
    for location, fields in records:
        if len(fields) != len(names):
            hint = ". Is there a tab in a text?" if suffix(path) != ".csv" else ". Is there a comma outside quotes?"
            raise DataError(
                f"{location}: {len(fields)} fields, but the header has {len(names)}"
                f"{hint if len(fields) > len(names) else '.'}"
            )
        yield TableRow(location, dict(zip(names, fields, strict=True)))
        empty = False
    if empty:
        raise DataError(f"'{path}' has a header and no rows below it.")


# --- JSON lines -----------------------------------------------------------------------------------------------------


def _objects(path: Path, fixes: InputFixes) -> ExampleTable:
    rows = (_object(Location(path, number), line) for number, line in numbered_lines(path, fixes) if line.strip())
    first = next(rows, None)
    if first is None:
        raise DataError(f"'{path}' is empty. Expected one JSON object per line.")
    return ExampleTable(first.location, list(first.fields), chain([first], rows))


def _object(location: Location, line: str) -> TableRow:
    advice = (
        f"Expected one object per line; to convert a file with one array: jq -c '.[]' '{location.path}' > new.jsonl"
    )
    try:
        fields = json.loads(line)
    except RecursionError:
        raise DataError(f"{location}: JSON nested too deeply. {advice}") from None
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        raise DataError(f"{location}: this is not JSON: {error}. {advice}") from None
    if not isinstance(fields, dict):
        raise DataError(f"{location}: {_type_name(fields)}. {advice}")
    return TableRow(location, fields)


# --- fields ---------------------------------------------------------------------------------------------------------


def _text(row: TableRow, name: str) -> str:
    value = _value(row, name)
    if not isinstance(value, str):
        raise DataError(f"{row.location}: '{name}' is {_type_name(value)}, expected a text.")
    return _nonempty(row, name, value)


def _label(row: TableRow, name: str) -> str:
    value = _value(row, name)
    if isinstance(value, bool | int):
        return json.dumps(value)  # true and false as in the file
    if not isinstance(value, str):
        raise DataError(f"{row.location}: '{name}' is {_type_name(value)}, expected a string, integer or boolean.")
    return _nonempty(row, name, value).strip()


def _value(row: TableRow, name: str) -> Any:
    if name not in row.fields:
        raise DataError(
            f"{row.location}: the key '{name}' is missing; there is {quote_list(list(row.fields)) or 'no key'}."
        )
    return row.fields[name]


def _nonempty(row: TableRow, name: str, value: str) -> str:
    if not value.strip():
        raise DataError(f"{row.location}: '{name}' is empty. Fill it in, or remove the line.")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can escape half a character
        raise DataError(
            f"{row.location}: '{name}' contains half of a surrogate pair, which is not a character."
        ) from None
    return value


def _type_name(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", int: "an integer", float: "a fraction", str: "a string"}
    return names.get(type(value), "an array" if isinstance(value, list) else "an object")
