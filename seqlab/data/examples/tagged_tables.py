"""Words and their tags in a table: lists of them in Parquet are read; others once they stand on lines of their own, and
how to write them so is said."""

import csv
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.data.examples.array_labels import as_tagged
from seqlab.data.examples.json_forms import no_json
from seqlab.data.examples.lines import COLUMNS, CONLLU, JSON_LINES, LocatedExample, quote_list, suffix
from seqlab.data.examples.parquet_sentences import read_sentences
from seqlab.data.examples.table_sample import sample_table
from seqlab.data.file_layout import SAMPLE_BYTES, SPAN_TAG
from seqlab.data.files import InputFixes, read_beginning
from seqlab.data.parquet_files import PARQUET
from seqlab.errors import DataError

AS_LINES = (
    "Write the word, a tab and its tag on each line of a file that ends in .conll, with a blank line between sentences"
)


def read_tagged_table(path: Path, columns: tuple[str, str] | None, fixes: InputFixes) -> list[LocatedExample]:
    """The sentences of a Parquet file; DataError for another table, and for one without lists of words and tags."""
    if suffix(path) == PARQUET:
        return read_sentences(path, columns, fixes)
    how = advice_on_tags(path) or f"Use {CONLLU}, or columns in {', '.join(COLUMNS)}."
    raise DataError(f"'{path}' does not have the suffix of tagged words. {how}")


def advice_on_tags(path: Path) -> str:
    """How to write the words of a table, if it has arrays of them or one on each row, or what it is instead of JSON;
    else nothing."""
    try:
        rows = sample_table(path).rows
    except (OSError, EOFError, zlib.error):
        return ""
    except (ValueError, RecursionError, csv.Error):
        return no_json(path, read_beginning(path, SAMPLE_BYTES)[0]) if suffix(path) in JSON_LINES else ""
    return as_tagged(path, rows).removeprefix(". ") or word_rows(path, rows)


def word_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """Which columns have span tags, one on each row, and what to do; nothing if none has."""
    columns = {name: [str(row.get(name, "")) for row in rows] for name in (rows[0] if rows else ())}
    spans = [
        name
        for name, tags in columns.items()
        if len(set(tags)) > 1
        and any(tag.startswith(("B-", "B_")) for tag in tags)
        and all(map(SPAN_TAG.fullmatch, tags))
    ]
    return f"{path.name} has span tags in {quote_list(spans)}: a word on each row. {AS_LINES}" if spans else ""
