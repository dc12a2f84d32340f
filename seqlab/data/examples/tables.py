"""Labeled texts and pairs from tables: TSV, CSV, JSON lines and Parquet.

The first line names the columns; in JSON lines, the keys of the first objects do; a Parquet file lists them.
columns.py finds the two to read, records.py reads what stands between the delimiters.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from seqlab.data.examples.array_labels import refuse_arrays, refuse_objects
from seqlab.data.examples.column_notes import columns_note, types_note
from seqlab.data.examples.columns import (
    LABELED,
    PAIRS,
    SEPARATORS,
    ColumnPair,
    find_columns,
    known_columns,
    other_columns,
    readable_columns,
    refuse_other_answers,
)
from seqlab.data.examples.csv_records import Record
from seqlab.data.examples.decisions import AcceptedRows, find_decisions
from seqlab.data.examples.empty_columns import refuse_empty_columns
from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.groups import AUTO, NONE, find_group_columns, groups_of, why_no_groups
from seqlab.data.examples.header_rows import without_headers
from seqlab.data.examples.json_lines import TableRow, keys_of, read_objects, type_name
from seqlab.data.examples.lines import (
    JSON_LINES,
    BadRow,
    LocatedExample,
    Location,
    collect,
    quote_list,
    suffix,
)
from seqlab.data.examples.numbered_columns import numbered_columns
from seqlab.data.examples.parquet_rows import read_parquet
from seqlab.data.examples.records import content_records, refuse_other_line
from seqlab.data.examples.row_ends import without_ends
from seqlab.data.examples.split_column import find_split_column
from seqlab.data.examples.table_sample import header_notes
from seqlab.data.examples.unanswered import refuse_unanswered
from seqlab.data.files import InputFixes
from seqlab.data.parquet_files import PARQUET
from seqlab.data.text.forms import form_of_text
from seqlab.errors import DataError
from seqlab.wording import counted

TYPES = {str: "string", int: "integer", bool: "boolean", float: "decimal number"}  # of labels
KEYED_OBJECTS = 100  # whose keys are the columns of JSON lines: one alone may lack some


@dataclass(frozen=True)
class ExampleTable:
    """The names of the columns, the location of the header, and the rows."""

    header: Location
    names: list[str]
    rows: Iterable[TableRow | BadRow]
    later: Sequence[str] = ()  # keys that only JSON objects beyond the first ones have
    label_note: Callable[[str], list[str]] = lambda column: []  # on how the labels of a column were read

    @property
    def all_names(self) -> list[str]:
        return [*self.names, *self.later]

    def fields(self) -> Iterator[Mapping[str, Any]]:
        """The fields of the rows that can be read."""
        return (row.fields for row in self.rows if isinstance(row, TableRow))

    def sample(self) -> list[Mapping[str, Any]]:
        return list(islice(self.fields(), KEYED_OBJECTS))

    def all_rows(self) -> Iterable[TableRow | BadRow]:
        """The rows; DataError if there are none."""
        if next(iter(self.rows), None) is None:
            raise DataError(f"'{self.header.path}' has a header and no rows below it.")
        return self.rows


def _read(
    pair: ColumnPair,
    path: Path,
    columns: tuple[str, str] | None,
    fixes: InputFixes,
    groups: str = NONE,
    splits: str = NONE,
    trained: Sequence[tuple[str, str]] = (),
) -> list[LocatedExample]:
    """The examples of a table; whitespace around labels is removed. `groups` and `splits` name columns of these;
    `trained` are the columns that the run was trained on which scores the table."""
    table = open_table(path, pair, fixes, columns)
    if known_columns(table.names, pair) is None:
        refuse_other_line(table.names, fixes.header, table.header, named=columns is not None)
    fixes.header = fixes.header or tuple(table.names if fixes.trains else ())
    refuse_unanswered(table.names, pair, trained or fixes.column_pairs, table.header, fixes.sources)
    columns = columns or next((known for known in trained if {*known} <= {*table.names}), None)
    usual = (*trained, (pair.first[0], pair.second[0]))[0]
    names = table.all_names if columns else table.names
    first, second = find_columns(names, pair, columns, table.header, table.sample, None if fixes.trains else usual)
    refuse_other_answers((first, second), trained, table.header)
    _check_content(pair, table, (first, second), guessed=fixes.trains and not columns)
    decided = None
    if pair is LABELED and (decided := find_decisions(table.names, table.fields, (first, second), table.header)):
        table = replace(table, rows=AcceptedRows(table.rows, decided[0]))
        fixes.skipped.append(decided[1])
    group_columns = find_group_columns(table.all_names, groups, (first, second), table.header, fixes.trains)
    split = find_split_column(table.all_names, table.fields, splits, (first, second), table.header)
    group = None if groups == AUTO else next(iter(group_columns), None)  # a column that may name groups is not used
    fixes.column_pairs.append((first, second))
    infers = fixes.trains and not columns
    others = other_columns(_readable_names(table, group_columns), pair, (first, second)) if infers else ""
    roles = {pair.first[0]: first, pair.second[0]: second, "groups": group, "splits": split and split.name}
    if others or (not columns and (first, second) != usual) or {*table.all_names} - {*roles.values()}:
        roles["accepted rows"] = decided and decided[0]
        given = {role: name for role, name in roles.items() if name is not None}
        note = columns_note(path.name, given, table.all_names, table.fields, fixes.trains and splits == AUTO)
        fixes.remarks.append(f"{note}; {others}" if others else note)
    types: dict[str, Counter[str]] = {}  # of JSON values, by label

    def located(row: TableRow) -> LocatedExample:
        given = split.given(row.fields) if split else None
        try:
            text = text_in(row, first)
            answer = text_in(row, second) if pair is PAIRS else _label(row, second, fixes)
        except BadRow as fault:
            fault.split, fault.unanswered = given, row.fields.get(second) in ("", None)
            raise
        if pair is PAIRS:
            example = TextPair(text, answer)
        else:
            example = LabeledText(text, answer)
            types.setdefault(answer, Counter())[TYPES[type(row.fields[second])]] += 1
        return LocatedExample(example, row.location, groups_of(row.fields, group_columns, groups, fixes), given)

    examples = collect(path, table.all_rows(), located, fixes, "row")
    fixes.remarks += [*table.label_note(second), *types_note(second, types)]
    return examples


def _check_content(pair: ColumnPair, table: ExampleTable, columns: tuple[str, str], guessed: bool) -> None:
    refuse_objects(columns, table.header, table.sample())
    if guessed:
        refuse_empty_columns(columns, pair, table.header, table.sample())
    if pair is LABELED:
        refuse_arrays(table.header, columns[1], table.sample())


read_labeled = partial(_read, LABELED)  # texts and their labels
read_pairs = partial(_read, PAIRS)  # sources and targets


def _readable_names(table: ExampleTable, group_columns: Sequence[str]) -> list[str]:
    """The columns that may be read, without those that name groups: a document may be a text, or the name of one."""
    sizes = {name: Counter(str(fields.get(name)) for fields in table.fields()) for name in group_columns}
    named = {name for name, counts in sizes.items() if not why_no_groups(counts, counts.total())}
    return [name for name in next(iter(readable_columns(table.sample())), ()) if name not in named]


def open_table(
    path: Path,
    pair: ColumnPair,
    fixes: InputFixes,
    columns: tuple[str, ...] | None = None,
    keep_blank: bool = False,
) -> ExampleTable:
    """The header and the rows, perhaps with those of empty cells. Columns that are requested by number belong to a
    table without a header."""
    if suffix(path) == PARQUET:
        stored = read_parquet(path)
        return ExampleTable(stored.rows[0].location, stored.names, stored.rows, label_note=stored.label_note)
    if suffix(path) in JSON_LINES:
        rows = read_objects(path, fixes)
        objects = [row for row in rows if isinstance(row, TableRow)]
        if not objects:
            raise rows[0] if isinstance(rows[0], BadRow) else AssertionError
        names, every = (keys_of(row.fields for row in some) for some in (objects[:KEYED_OBJECTS], objects))
        return ExampleTable(objects[0].location, names, rows, every[len(names) :])
    records, too_many = content_records(path, fixes, keep_blank)
    header = next((record for record in records if not isinstance(record, BadRow)), None)
    unseparated = header is None or header is not records[0] or len(header[1]) == 1
    if unseparated and (form := form_of_text(path)) and form.is_spaced:
        raise DataError(f"'{path}' looks like {form.looks_like}. {SEPARATORS}. {form.advice}")
    if header is None:
        if records:
            raise records[0] if isinstance(records[0], BadRow) else AssertionError
        raise DataError(f"'{path}' is empty. Expected a header line such as {pair.header}, and rows below it.")
    location, names = header[0], [name.strip() for name in header[1]]
    if columns and (numbers := numbered_columns(names, pair, columns, location, fixes)):
        names = numbers
    else:
        records = without_headers(names, [record for record in records if record is not header], fixes)
        names, records = _without_ends(path, names, records, fixes)
        rows = [record[1] for record in records if not isinstance(record, BadRow)]
        fixes.remarks += header_notes(location, names, rows, columns) if columns else []
    return ExampleTable(location, names, Rows(names, records, too_many))


def _without_ends(
    path: Path, names: Sequence[str], records: Sequence[Record | BadRow], fixes: InputFixes
) -> tuple[list[str], list[Record | BadRow]]:
    """Names and records without empty fields at the end, which a note counts."""
    ends = without_ends(names, [record[1] for record in records if not isinstance(record, BadRow)])
    if ends.removed:
        rows = counted(ends.removed, "row")
        said = "ends with empty fields" if ends.removed == 1 else "end with empty fields"
        fixes.remarks.append(f"{path.name}: {rows} {said} beyond the header, which are not read")
    kept = iter(ends.rows)
    return ends.names, [record if isinstance(record, BadRow) else (record[0], [*next(kept)]) for record in records]


# --- separated fields -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The records of a table by column, made while they are read: all at once would take several times the memory."""

    names: list[str]
    records: Sequence[Record | BadRow]
    too_many: str  # a question about a record with more fields than names

    def __iter__(self) -> Iterator[TableRow | BadRow]:
        return map(self._row, self.records)

    def _row(self, record: Record | BadRow) -> TableRow | BadRow:
        if isinstance(record, BadRow):
            return record
        location, fields = record
        if len(fields) == len(self.names):
            return TableRow(location, dict(zip(self.names, fields, strict=True)))
        question = f" {self.too_many}" if len(fields) > len(self.names) else ""
        return BadRow(location, f"{counted(len(fields), 'field')}, but the header has {len(self.names)}.{question}")


# --- fields ---------------------------------------------------------------------------------------------------------


def text_in(row: TableRow, name: str) -> str:
    value = _value(row, name)
    if not isinstance(value, str):
        raise BadRow(row.location, f"'{name}' is {type_name(value)}, expected a text.")
    return _nonempty(row, name, value)


def _label(row: TableRow, name: str, fixes: InputFixes) -> str:
    value = _value(row, name)
    if isinstance(value, bool | int):
        return json.dumps(value)  # true and false as in the file
    if isinstance(value, float) and math.isfinite(value):
        return json.dumps(value)
    if not isinstance(value, str):
        raise BadRow(row.location, f"'{name}' is {type_name(value)}, expected a string, a number or a boolean.")
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
