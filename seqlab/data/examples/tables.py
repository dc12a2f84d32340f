"""Labeled texts and pairs from tables: TSV, CSV and JSON lines.

The first line names the columns; in JSON lines, the keys of the first objects do. columns.py finds the two to read,
delimiters.py what separates them. TSV has no quoting: every tab separates fields.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from seqlab.data.examples.columns import LABELED, PAIRS, ColumnPair, find_columns, refuse_numbers
from seqlab.data.examples.delimiters import DELIMITERS, Record, detect_delimiter, named_delimiter, read_records
from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.groups import NONE, find_group_column, group_of
from seqlab.data.examples.lines import (
    JSON_LINES,
    BadRow,
    LocatedExample,
    Location,
    collect,
    numbered_lines,
    quote_list,
    suffix,
)
from seqlab.data.files import InputFixes, read_beginning
from seqlab.errors import DataError
from seqlab.wording import counted

SAMPLE_BYTES = 64 * 1024  # from which the delimiter is detected
SAMPLE_OBJECTS = 100  # of JSON lines, whose keys are the columns: one alone may lack some


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
    rows: Iterable[TableRow | BadRow]


def read_labeled(
    path: Path, columns: tuple[str, str] | None, fixes: InputFixes, groups: str = NONE
) -> list[LocatedExample]:
    """Texts and their labels; whitespace around labels is removed."""
    return _read(path, LABELED, columns, fixes, groups)


def read_pairs(
    path: Path, columns: tuple[str, str] | None, fixes: InputFixes, groups: str = NONE
) -> list[LocatedExample]:
    """Sources and targets."""
    return _read(path, PAIRS, columns, fixes, groups)


def _read(
    path: Path, pair: ColumnPair, columns: tuple[str, str] | None, fixes: InputFixes, groups: str
) -> list[LocatedExample]:
    table = open_table(path, pair, fixes, columns)
    first, second = find_columns(table.names, pair, columns, table.header)
    group = find_group_column(table.names, groups, (first, second), table.header)

    def located(row: TableRow) -> LocatedExample:
        text = text_in(row, first)
        example = (
            LabeledText(text, _label(row, second, fixes)) if pair is LABELED else TextPair(text, text_in(row, second))
        )
        return LocatedExample(example, row.location, group_of(row.fields, group))

    return collect(path, table.rows, located, fixes, "row")


def header_names(path: Path) -> list[str]:
    """The columns that the first line of a table names, none if there is no line or too long a one; ValueError,
    csv.Error or an error of reading if the line is no header."""
    lines, _ = read_beginning(path, SAMPLE_BYTES)
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    if suffix(path) in JSON_LINES:
        if not isinstance(json.loads(filled[0]), dict):
            raise ValueError("not an object")
        return _keys(sample_objects(path))
    delimiter = detect_delimiter(lines, usual_delimiter(path))
    header = filled[1] if named_delimiter(filled[0]) and len(filled) > 1 else filled[0]
    quoted = delimiter != "\t" or suffix(path) == ".csv"
    fields = next(csv.reader([header], delimiter=delimiter, strict=True)) if quoted else header.split("\t")
    return [name.strip() for name in fields]


def sample_objects(path: Path) -> list[Mapping[str, Any]]:
    """The first objects of JSON lines, without those that cannot be read."""
    lines, _ = read_beginning(path, SAMPLE_BYTES)
    filled = [line for line in lines if line.strip()][:SAMPLE_OBJECTS]
    rows = [_object(Location(path, 1), line) for line in filled]
    return [row.fields for row in rows if isinstance(row, TableRow)]


def _keys(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys that any of the objects has, in the order of the first that has them."""
    return list(dict.fromkeys(key for fields in objects for key in fields))


def usual_delimiter(path: Path) -> str:
    return "," if suffix(path) == ".csv" else "\t"


def open_table(path: Path, pair: ColumnPair, fixes: InputFixes, columns: tuple[str, ...] | None = None) -> ExampleTable:
    """The header and the rows. Columns that are requested by number belong to a table without a header."""
    if suffix(path) in JSON_LINES:
        return _objects(path, fixes)
    records = [record for record in _records(path, fixes) if isinstance(record, BadRow) or any(record[1])]
    header = next((record for record in records if not isinstance(record, BadRow)), None)
    if header is None:
        if records:
            raise records[0] if isinstance(records[0], BadRow) else AssertionError
        raise DataError(f"'{path}' is empty. Expected a header line such as {pair.header}, and rows below it.")
    location, names = header[0], [name.strip() for name in header[1]]
    if columns and all(name.isdigit() and name not in names for name in columns):
        refuse_numbers(names, pair, columns, location)
        shown = " | ".join(f"{name:.30}" for name in names[:4])
        fixes.first_lines[path.name] = shown
        names = [str(number) for number in range(1, len(names) + 1)]
    else:
        records.remove(header)
    return ExampleTable(location, names, _rows(path, names, records))


# --- separated fields -----------------------------------------------------------------------------------------------


def _records(path: Path, fixes: InputFixes) -> list[Record | BadRow]:
    """The records that have content; blank lines are passed over, and rows of empty cells are counted."""
    lines = [line for _, line in numbered_lines(path, fixes)]
    delimiter = detect_delimiter(lines, usual_delimiter(path))
    named = next((number for number, line in enumerate(lines) if line.strip()), None)
    if named is not None and named_delimiter(lines[named]):
        lines[named] = ""  # blank, so that the others keep their numbers
        fixes.delimiters[path.name] = f"{DELIMITERS.get(delimiter, repr(delimiter))}, as its first line says"
    elif delimiter != usual_delimiter(path):
        fixes.delimiters[path.name] = DELIMITERS[delimiter]
    if delimiter == "\t" and suffix(path) != ".csv":
        records = [(Location(path, number), line.split("\t")) for number, line in enumerate(lines, 1)]
    else:
        records = read_records(path, lines, delimiter, ceil(fixes.skip_limit * len(lines)))
    kept: list[Record | BadRow] = []
    for record in records:
        if isinstance(record, BadRow) or any(map(str.strip, record[1])):
            kept.append(record)
        elif len(record[1]) > 1:
            fixes.blank_rows += 1
    return kept


def _rows(path: Path, names: list[str], records: Sequence[Record | BadRow]) -> Iterator[TableRow | BadRow]:
    if not records:
        raise DataError(f"'{path}' has a header and no rows below it.")
    yield from (_row(path, names, record) for record in records)


def _row(path: Path, names: list[str], record: Record | BadRow) -> TableRow | BadRow:
    if isinstance(record, BadRow):
        return record
    location, fields = record
    if len(fields) == len(names):
        return TableRow(location, dict(zip(names, fields, strict=True)))
    hint = ". Is there a tab in a text?" if suffix(path) != ".csv" else ". Is there a comma outside quotes?"
    more = len(fields) > len(names)
    return BadRow(location, f"{counted(len(fields), 'field')}, but the header has {len(names)}{hint if more else '.'}")


# --- JSON lines -----------------------------------------------------------------------------------------------------


def _objects(path: Path, fixes: InputFixes) -> ExampleTable:
    rows = [_object(Location(path, number), line) for number, line in numbered_lines(path, fixes) if line.strip()]
    if not rows:
        raise DataError(f"'{path}' is empty. Expected one JSON object per line.")
    objects = [row for row in rows if isinstance(row, TableRow)]
    if not objects:
        raise rows[0] if isinstance(rows[0], BadRow) else AssertionError
    return ExampleTable(objects[0].location, _keys(row.fields for row in objects[:SAMPLE_OBJECTS]), rows)


def _object(location: Location, line: str) -> TableRow | BadRow:
    advice = (
        f"Expected one object per line; to convert a file with one array: jq -c '.[]' '{location.path}' > new.jsonl"
    )
    try:
        fields = json.loads(line)
    except RecursionError:
        return BadRow(location, f"JSON nested too deeply. {advice}")
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        return BadRow(location, f"this is not JSON: {error}. {advice}")
    if not isinstance(fields, dict):
        return BadRow(location, f"{_type_name(fields)}. {advice}")
    return TableRow(location, fields)


# --- fields ---------------------------------------------------------------------------------------------------------


def text_in(row: TableRow, name: str) -> str:
    value = _value(row, name)
    if not isinstance(value, str):
        raise BadRow(row.location, f"'{name}' is {_type_name(value)}, expected a text.")
    return _nonempty(row, name, value)


def _label(row: TableRow, name: str, fixes: InputFixes) -> str:
    value = _value(row, name)
    if isinstance(value, bool | int):
        return json.dumps(value)  # true and false as in the file
    if not isinstance(value, str):
        raise BadRow(row.location, f"'{name}' is {_type_name(value)}, expected a string, integer or boolean.")
    label = _nonempty(row, name, value).strip()
    fixes.trimmed_labels += label != value
    return label


def _value(row: TableRow, name: str) -> Any:
    if name not in row.fields:
        raise BadRow(row.location, f"the key '{name}' is missing; there is {quote_list(list(row.fields)) or 'no key'}.")
    return row.fields[name]


def _nonempty(row: TableRow, name: str, value: str) -> str:
    if not value.strip():
        raise BadRow(row.location, f"'{name}' is empty. Fill it in, or remove the line.")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can escape half a character
        raise BadRow(row.location, f"'{name}' contains half of a surrogate pair, which is not a character.") from None
    return value


def _type_name(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", int: "an integer", float: "a fraction", str: "a string"}
    return names.get(type(value), "an array" if isinstance(value, list) else "an object")
