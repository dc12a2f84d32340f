"""The rows of a Parquet file, by groups of rows: only the column of the text is read, some thousand rows at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from seqlab.data.corpora.documents import CorpusDocument, DocumentReader
from seqlab.data.corpora.faults import EMPTY
from seqlab.data.corpora.source import NEEDS_EXTRA
from seqlab.errors import DataError, UsageError

ROWS_AT_ONCE = 1024
BUFFER = 1 << 20  # bytes of a column that are read at once, which bounds the memory


@contextmanager
def _parquet_errors(name: str) -> Iterator[None]:
    try:
        import pyarrow
    except ImportError:
        raise UsageError(f"'{name}' is a Parquet file, which needs a further package: {NEEDS_EXTRA}") from None
    try:
        yield
    except (pyarrow.ArrowInvalid, pyarrow.ArrowException) as error:
        raise DataError(f"'{name}' cannot be read as Parquet: {error}. Leave it out, or write it again.") from None


def _open(stream: BinaryIO) -> Any:
    import pyarrow
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(pyarrow.PythonFile(stream, mode="r"), buffer_size=BUFFER, pre_buffer=False)


def text_columns(stream: BinaryIO, name: str) -> tuple[list[str], list[str]]:
    """All columns of a file, and those of texts."""
    with _parquet_errors(name):
        import pyarrow

        kinds = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_string_view)
        schema = _open(stream).schema_arrow
        return [*schema.names], [field.name for field in schema if any(is_kind(field.type) for is_kind in kinds)]


def row_groups(stream: BinaryIO, name: str) -> int:
    with _parquet_errors(name):
        return _open(stream).metadata.num_row_groups


def parquet_documents(reader: DocumentReader, stream: BinaryIO, group: int) -> Iterator[CorpusDocument]:
    """The documents of one group of rows."""
    source = reader.source
    with _parquet_errors(source.name):
        file, row = _open(stream), 0
        for batch in file.iter_batches(ROWS_AT_ONCE, [group], [source.column], use_threads=False):
            for text in batch.column(0).to_pylist():
                row += 1
                place = f"row {row:,} of group {group + 1:,}"
                if text is None:
                    reader.count(EMPTY, f"{place}: '{source.column}' is null")
                elif (document := reader.document(text, place)) is not None:
                    yield document
