"""The rows of a Parquet file, by groups of rows: only the column of the text is read, some thousand rows at a time."""

import json
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

from seqlab.data.corpora.documents import CorpusDocument, DocumentReader
from seqlab.data.corpora.faults import EMPTY
from seqlab.data.documents.rows import FIELDS
from seqlab.data.file_names import MAX_NAMED
from seqlab.data.new_files import new_file
from seqlab.data.parquet_files import AS_JSON_LINES, open_parquet, parquet_errors
from seqlab.errors import DataError

ROWS_AT_ONCE = 1024


def text_columns(stream: BinaryIO, name: str, wanted: str) -> tuple[list[str], list[str]]:
    """All columns of a file, and those of texts; DataError if there is none, or the wanted one is of another type."""
    with parquet_errors(name):
        import pyarrow

        kinds = (pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_string_view)

        def is_text(kind: Any) -> bool:
            if pyarrow.types.is_dictionary(kind):  # a category of pandas
                kind = kind.value_type
            return any(is_kind(kind) for is_kind in kinds)

        schema = open_parquet(stream).schema_arrow
        texts = [field.name for field in schema if is_text(field.type)]
        others = {field.name: str(field.type) for field in schema if field.name not in texts}
    if others and (not texts or wanted in others):
        raise _no_texts(name, {wanted: others[wanted]} if wanted in others else others)
    return [*schema.names], texts


def _no_texts(name: str, types: dict[str, str]) -> DataError:
    """What the columns are instead, and how to write the first one with a known name as strings."""
    column = next((known for known in FIELDS["text"] if known in types), next(iter(types)))
    kind = types[column]
    listed = ", ".join(f"'{one}' of type {kind}" for one, kind in islice(types.items(), MAX_NAMED))
    if kind.startswith("struct"):
        rows = f"{AS_JSON_LINES.replace('FILE', shlex.quote(name))} | jq -c {shlex.quote(f'.[{json.dumps(column)}]')}"
        return DataError(
            f"'{name}' has no texts, which are strings: it has {listed}. To make a table of the fields in '{column}': "
            f"{rows} > {new_file('.jsonl')}"
        )
    as_text = "bytes.decode" if "binary" in kind and "<" not in kind else '" ".join' if "<" in kind else "str"
    code = f"frame[{column!r}] = frame[{column!r}].map({as_text})"
    return DataError(
        f"'{name}' has no texts, which are strings: it has {listed}. To make strings of '{column}' with pandas: {code}"
    )


def row_groups(stream: BinaryIO, name: str) -> int:
    with parquet_errors(name):
        return open_parquet(stream).metadata.num_row_groups


def parquet_documents(reader: DocumentReader, stream: BinaryIO, group: int) -> Iterator[CorpusDocument]:
    """The documents of one group of rows."""
    source = reader.source
    with parquet_errors(source.name):
        file, row = open_parquet(stream), 0
        for batch in file.iter_batches(ROWS_AT_ONCE, [group], [source.column], use_threads=False):
            for text in batch.column(0).to_pylist():
                row += 1
                place = f"row {row:,} of group {group + 1:,}"
                if text is None:
                    reader.count(EMPTY, f"{place}: '{source.column}' is null")
                elif (document := reader.document(text, place)) is not None:
                    yield document
