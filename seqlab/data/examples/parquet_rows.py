"""The rows of a Parquet file as those of a table: one object per row, like JSON lines."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from seqlab.data.examples.json_lines import TableRow
from seqlab.data.examples.lines import Location
from seqlab.data.files import open_bytes
from seqlab.data.parquet_files import open_parquet, parquet_errors
from seqlab.errors import DataError

ROWS_AT_ONCE = 1024


def read_parquet(path: Path, most: int | None = None) -> tuple[list[str], list[TableRow]]:
    """The names of the columns, and the rows or the first of them; DataError if there is none."""
    with parquet_errors(str(path)), open_bytes(path) as stream:
        file = open_parquet(stream)
        rows = islice(_rows(file, min(most or ROWS_AT_ONCE, ROWS_AT_ONCE)), most)
        table = [TableRow(Location(path, number), fields) for number, fields in enumerate(rows, 1)]
        names = list(file.schema_arrow.names)
    if not table:
        raise DataError(f"'{path}' has no rows: give a file with examples.")
    return names, table


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
