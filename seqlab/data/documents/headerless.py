"""Tables of documents and queries without a header: their columns are numbered, or a command writes one above them."""

import csv
import shlex
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from seqlab.data.examples.columns import length_of
from seqlab.data.examples.delimiters import detect_delimiter, usual_delimiter
from seqlab.data.examples.lines import quote_list, suffix
from seqlab.data.examples.numbered_columns import are_positions
from seqlab.data.examples.table_sample import TableSample, sample_table
from seqlab.data.file_layout import SAMPLE_BYTES
from seqlab.data.files import read_beginning
from seqlab.data.new_files import command_on, new_file
from seqlab.errors import DataError


def requested_positions(
    path: Path, columns: Mapping[str, str], known: Sequence[str], required: bool
) -> tuple[str, ...] | None:
    """The columns if they are requested by their positions; DataError if the first line names a `known` one.

    A folder may have tables with a header as well: they are read by its names."""
    sample = _sample(path) if columns else None
    if sample is None or not are_positions([*columns.values()], sample.names, path):
        return None
    header = not {*known}.isdisjoint(name.casefold() for name in sample.names)
    if not required and (header or sample.header):
        return None
    if header:
        meant = {field: int(number) - 1 for field, number in columns.items()}
        names = {field: sample.names[place] for field, place in meant.items() if place in range(len(sample.names))}
        raise DataError(
            f"'{path}' has a header with the columns {quote_list(sample.names)}, and numbers are for tables without "
            f"one. Give the names instead{_options(names) and f':{_options(names)}'}"
        )
    return tuple(columns.values())


def headerless_advice(path: Path, can_name_columns: bool, names: Mapping[str, str]) -> str:
    """What to do if the first line looks like data: number the columns, or else write their `names` above them."""
    sample = _sample(path)
    if sample is None or sample.header or not sample.rows:
        return ""
    columns = [*sample.rows[0]]
    text = max(columns, key=lambda name: length_of(sample.rows, name))
    ids = (name for name in columns if name != text and _are_ids([str(row[name]) for row in sample.rows]))
    found = {field: number for field, number in (("id", next(ids, None)), ("text", text)) if number is not None}
    if can_name_columns:
        return f"If the first line is no header, number the columns:{_options(found)}"
    called = {number: names[field] for field, number in found.items()}
    delimiter = detect_delimiter(read_beginning(path, SAMPLE_BYTES)[0], usual_delimiter(path)).delimiter
    header = delimiter.join(called.get(number, f"column{number}") for number in columns).replace("\t", "\\t")
    command = f"(printf '{header}\\n'; {command_on(path, 'cat')}) > {new_file(suffix(path))}"
    return f"If the first line is no header, write one above it: {command}"


def _are_ids(values: Sequence[str]) -> bool:
    return len({*values}) == len(values) and all(len(value.split()) == 1 for value in values)


def _options(columns: Mapping[str, str]) -> str:
    return "".join(f" --column {shlex.quote(f'{field}={name}')}" for field, name in columns.items())


def _sample(path: Path) -> TableSample | None:
    try:
        return sample_table(path)
    except (OSError, EOFError, zlib.error, ValueError, csv.Error):
        return None  # reading says what is wrong
