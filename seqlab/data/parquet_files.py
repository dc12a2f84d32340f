"""Opening Parquet files, whose reader is an extra: running text and tables of examples share this."""

from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from typing import IO, Any

from seqlab.errors import DataError, UsageError

PARQUET = ".parquet"
NEEDS_EXTRA = "pip install 'seqlab[corpora]'"
AS_JSON_LINES = (
    "python3 -c 'import json, sys, pyarrow.parquet as p; [print(json.dumps(r, default=str)) for r in "
    "p.read_table(sys.argv[1]).to_pylist()]' FILE"
)
BUFFER = 1 << 20  # bytes of a column that are read at once, which bounds the memory


@contextmanager
def parquet_errors(name: str) -> Iterator[None]:
    """UsageError without the extra, DataError for a file that is damaged or no Parquet."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError(f"'{name}' is a Parquet file, which needs a further package: {NEEDS_EXTRA}") from None
    try:
        yield
    except (pyarrow.ArrowInvalid, pyarrow.ArrowException) as error:
        why = str(error).rstrip(".")
        raise DataError(f"'{name}' cannot be read as Parquet: {why}. Leave it out, or write it again.") from None


def open_parquet(stream: IO[bytes] | GzipFile) -> Any:
    import pyarrow
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(pyarrow.PythonFile(stream, mode="r"), buffer_size=BUFFER, pre_buffer=False)
