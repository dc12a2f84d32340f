"""The rows of a Parquet file as those of a table: one object per row, like JSON lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from seqlab.data.examples.json_lines import TableRow
from seqlab.data.examples.lines import Location, quote_list
from seqlab.data.files import open_bytes
from seqlab.data.parquet_files import open_parquet, parquet_errors
from seqlab.errors import DataError

HUGGING_FACE = b"huggingface"  # the key of its metadata
ROWS_AT_ONCE = 1024
NAMES_SHOWN = 5  # of labels, in a note


class ParquetRows(NamedTuple):
    """The names of the columns, the rows, and of columns whose integers stand for labels the names of these."""

    names: list[str]
    rows: list[TableRow]
    labels: Mapping[str, Sequence[str]]

    def label_note(self, column: str) -> list[str]:
        """A note on integers that were read as their names."""
        if not (names := self.labels.get(column)):
            return []
        path = self.rows[0].location.path
        shown = ", ".join(f"{number} is {quote_list([name])}" for number, name in enumerate(names[:NAMES_SHOWN]))
        more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
        return [f"{path.name} names the integers of '{column}', and its names are the labels: {shown}{more}"]


def read_parquet(path: Path, most: int | None = None) -> ParquetRows:
    """All rows or the first of them; DataError if there is none."""
    with parquet_errors(str(path)), open_bytes(path) as stream:
        file = open_parquet(stream)
        rows = islice(_rows(file, min(most or ROWS_AT_ONCE, ROWS_AT_ONCE)), most)
        labels = _label_names(file.schema_arrow)
        table = [TableRow(Location(path, number), _named(fields, labels)) for number, fields in enumerate(rows, 1)]
        names = list(file.schema_arrow.names)
    if not table:
        raise DataError(f"'{path}' has no rows: give a file with examples.")
    return ParquetRows(names, table, labels)


def _label_names(schema: Any) -> dict[str, list[str]]:
    """The names of the labels that the integers of a column stand for, which Hugging Face writes into the metadata; of
    no column where these have another form."""
    import pyarrow

    try:
        features = json.loads((schema.metadata or {})[HUGGING_FACE])["info"]["features"]
        abouts = {column: _of_items(about) for column, about in features.items()}
        found = {column: about["names"] for column, about in abouts.items() if _has_names(about)}
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    integers = {field.name for field in schema if pyarrow.types.is_integer(_item_type(field.type))}
    return {column: names for column, names in found.items() if column in integers}


def _of_items(about: Any) -> Any:
    """What is said of the items of a list, which has been written in several ways; else of the values."""
    if isinstance(about, list) and len(about) == 1:
        return about[0]
    return about["feature"] if isinstance(about, dict) and "feature" in about else about


def _item_type(kind: Any) -> Any:
    import pyarrow

    are_lists = (pyarrow.types.is_list, pyarrow.types.is_large_list, pyarrow.types.is_fixed_size_list)
    return kind.value_type if any(are_list(kind) for are_list in are_lists) else kind


def _has_names(about: Any) -> bool:
    if not isinstance(about, dict) or about.get("_type") != "ClassLabel":
        return False
    names = about.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        return False
    return len({name.strip() for name in names}) == len(names) > 0


def _named(fields: dict[str, Any], labels: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The fields with names of labels instead of integers, also in lists."""
    for column, names in labels.items():
        value = fields[column]
        fields[column] = [_name(one, names) for one in value] if isinstance(value, list) else _name(value, names)
    return fields


def _name(value: int | None, names: Sequence[str]) -> str | None:
    """The name of a label; one without a name, such as -1 for no label, as a string, so that all have one type."""
    if value is None:
        return None
    return names[value] if 0 <= value < len(names) else str(value)


def _rows(file: Any, at_once: int) -> Iterator[dict[str, Any]]:
    """Dates, times and decimal numbers become strings, as JSON has them."""
    import pyarrow

    schema = file.schema_arrow
    kinds = (pyarrow.types.is_temporal, pyarrow.types.is_decimal)
    as_text = [place for place, field in enumerate(schema) if any(is_kind(field.type) for is_kind in kinds)]
    for batch in file.iter_batches(at_once, use_threads=False):
        for place in as_text:
            batch = batch.set_column(place, schema.field(place).name, batch.column(place).cast(pyarrow.string()))
        yield from batch.to_pylist()
