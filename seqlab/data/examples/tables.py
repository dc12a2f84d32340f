"""Labelled texts and pairs from tables: TSV, CSV and JSON lines.

The first line names the columns; of JSON lines, the keys of the first object do. Read columns.py for how the two that
matter are found. TSV has no quoting: tabs separate fields, and nothing else does.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from seqlab.data.examples.columns import LABELLED, PAIRS, Roles, find_columns
from seqlab.data.examples.example import LabeledText, Pair
from seqlab.data.examples.lines import JSON_LINES, Noticed, Place, Placed, joined, numbered, suffix
from seqlab.errors import DataError

LONGEST_FIELD = 2**31 - 1  # characters; what the csv module takes by itself is 131,072


@dataclass(frozen=True)
class Row:
    """The fields of one record by their columns, and where it begins."""

    place: Place
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Columns, where they are named, and rows, which can be read once."""

    place: Place
    names: list[str]
    rows: Iterable[Row]


def read_labelled(path: Path, columns: tuple[str, str] | None, noticed: Noticed) -> list[Placed[LabeledText]]:
    """Texts and their labels; the whitespace around labels is left out."""
    table = _open(path, LABELLED, noticed)
    text, label = find_columns(table.names, LABELLED, columns, table.place)
    return [Placed(LabeledText(_text(row, text), _label(row, label)), row.place) for row in table.rows]


def read_pairs(path: Path, columns: tuple[str, str] | None, noticed: Noticed) -> list[Placed[Pair]]:
    """Sources and targets."""
    table = _open(path, PAIRS, noticed)
    source, target = find_columns(table.names, PAIRS, columns, table.place)
    return [Placed(Pair(_text(row, source), _text(row, target)), row.place) for row in table.rows]


def header_names(ending: str, line: str) -> list[str]:
    """The columns that a file's first line names; ValueError or csv.Error where it cannot name any."""
    if ending in JSON_LINES:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        return list(fields)
    fields = next(csv.reader([line], strict=True)) if ending == ".csv" else line.split("\t")
    return [name.strip() for name in fields]


def _open(path: Path, roles: Roles, noticed: Noticed) -> Table:
    if suffix(path) in JSON_LINES:
        return _objects(path, noticed)
    records = _quoted(path, noticed) if suffix(path) == ".csv" else _separated(path, noticed)
    full = ((place, fields) for place, fields in records if len(fields) > 1 or any(map(str.strip, fields)))
    header = next(full, None)
    if header is None:
        raise DataError(f"'{path}' is empty. A header line such as {roles.header}, and rows below it, are expected.")
    place, names = header[0], [name.strip() for name in header[1]]
    return Table(place, names, _rows(path, names, full))


# --- fields between separators --------------------------------------------------------------------------------------

Record = tuple[Place, list[str]]


def _separated(path: Path, noticed: Noticed) -> Iterator[Record]:
    for number, line in numbered(path, noticed):
        yield Place(path, number), line.split("\t")


def _quoted(path: Path, noticed: Noticed) -> Iterator[Record]:
    """The records of a CSV file, which may go over several lines."""
    reader = csv.reader((line + "\n" for _, line in numbered(path, noticed)), strict=True)
    records: list[Record] = []
    first = 1
    usual = csv.field_size_limit(LONGEST_FIELD)
    try:
        for fields in reader:
            records.append((Place(path, first), fields))
            first = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{Place(path, first)}: this record is not CSV: {error}. Fields with commas, quotes or line ends stand in "
            f'double quotes, which are closed again, and a quote within them is written twice: "so ""quoted"" here".'
        ) from None
    finally:
        csv.field_size_limit(usual)  # other users of the module have a limit of their own
    return iter(records)


def _rows(path: Path, names: list[str], records: Iterable[Record]) -> Iterator[Row]:
    none = True
    for place, fields in records:
        if len(fields) != len(names):
            hint = ". Is there a tab in a text?" if suffix(path) != ".csv" else ". Is there a comma outside quotes?"
            raise DataError(
                f"{place}: {len(fields)} fields, where the header has {len(names)}"
                f"{hint if len(fields) > len(names) else '.'}"
            )
        yield Row(place, dict(zip(names, fields, strict=True)))
        none = False
    if none:
        raise DataError(f"'{path}' has a header and no rows below it.")


# --- objects --------------------------------------------------------------------------------------------------------


def _objects(path: Path, noticed: Noticed) -> Table:
    rows = (_object(Place(path, number), line) for number, line in numbered(path, noticed) if line.strip())
    first = next(rows, None)
    if first is None:
        raise DataError(f"'{path}' is empty. One JSON object a line is expected.")
    return Table(first.place, list(first.fields), chain([first], rows))


def _object(place: Place, line: str) -> Row:
    advice = f"One object a line is expected; of a file that is one array: jq -c '.[]' '{place.path}' > new.jsonl"
    try:
        fields = json.loads(line)
    except RecursionError:
        raise DataError(f"{place}: JSON nested too deeply. {advice}") from None
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        raise DataError(f"{place}: this is not JSON: {error}. {advice}") from None
    if not isinstance(fields, dict):
        raise DataError(f"{place}: {_kind(fields)}. {advice}")
    return Row(place, fields)


# --- what the columns hold ------------------------------------------------------------------------------------------


def _text(row: Row, name: str) -> str:
    value = _value(row, name)
    if not isinstance(value, str):
        raise DataError(f"{row.place}: '{name}' is {_kind(value)}, where a text is expected.")
    return _full(row, name, value)


def _label(row: Row, name: str) -> str:
    value = _value(row, name)
    if isinstance(value, bool | int):
        return json.dumps(value)  # true and false as the file has them
    if not isinstance(value, str):
        raise DataError(f"{row.place}: '{name}' is {_kind(value)}, where a string, integer or truth value is expected.")
    return _full(row, name, value).strip()


def _value(row: Row, name: str) -> Any:
    if name not in row.fields:
        raise DataError(f"{row.place}: the key '{name}' is missing; there is {joined(list(row.fields)) or 'no key'}.")
    return row.fields[name]


def _full(row: Row, name: str, value: str) -> str:
    if not value.strip():
        raise DataError(f"{row.place}: '{name}' is empty. Fill it in, or leave the line out.")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can spell out half a character
        raise DataError(f"{row.place}: '{name}' holds half of a surrogate pair, which is no character.") from None
    return value


def _kind(value: Any) -> str:
    kinds = {type(None): "null", bool: "a truth value", int: "an integer", float: "a fraction", str: "a string"}
    return kinds.get(type(value), "an array" if isinstance(value, list) else "an object")
