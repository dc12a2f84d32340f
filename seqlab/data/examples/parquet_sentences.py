"""Tagged sentences in Parquet files, as Hugging Face stores them: a row has a list of words and one of their tags."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.data.examples.array_labels import keys_of_type
from seqlab.data.examples.column_notes import columns_note
from seqlab.data.examples.columns import columns_option, match_column
from seqlab.data.examples.conll import TAG_NAMES, WORD_NAMES
from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.json_lines import TableRow, type_name
from seqlab.data.examples.lines import BadRow, LocatedExample, collect, note_unread, quote_list, suffix
from seqlab.data.examples.parquet_rows import ParquetRows, read_parquet
from seqlab.data.files import InputFixes
from seqlab.data.parquet_files import PARQUET
from seqlab.errors import DataError
from seqlab.wording import counted

Rows = Sequence[Mapping[str, Any]]


def lists_of_words(path: Path, rows: Rows, columns: tuple[str, str] | None = None) -> tuple[str, str] | None:
    """The columns of a Parquet file whose lists are words and their tags: the ones that are named, or those whose names
    say it."""
    if suffix(path) != PARQUET:
        return None
    names = {name.casefold(): name for row in rows for name in row}
    if columns:
        first, second = (names.get(name.casefold(), "") for name in columns)
        return (first, second) if _has_words(rows, first) and _has_lists(rows, second) else None
    words = _word_column(rows)
    aligned = _tag_lists(rows, words) if words else []
    named = [name for name in aligned if "tag" in name.casefold() or "label" in name.casefold()]
    tags = named or [name for name in aligned if name.casefold() in TAG_NAMES]
    return (words, tags[-1]) if words and tags else None


def read_sentences(path: Path, columns: tuple[str, str] | None, fixes: InputFixes) -> list[LocatedExample]:
    """The sentences of the rows, with a note on the columns."""
    stored = read_parquet(path)
    rows = [row.fields for row in stored.rows]
    if columns:
        first, second = (match_column(stored.names, name, stored.rows[0].location) for name in columns)
        found = (first, second)
    else:
        found = lists_of_words(path, rows)
    if found is None:
        raise _unclear(path, stored.names, rows)
    fixes.remarks += [_note(path, stored, found, named=columns is not None), *stored.label_note(found[1])]
    if all(isinstance(item, int) for item in _items(rows, found[1])):
        unnamed = f"'{found[1]}' of {path.name} has integers, whose names the file does not tell"
        fixes.remarks.append(f"{unnamed}: each is taken as a tag; if some mark spans, these are not scored as spans")
    return collect(path, stored.rows, lambda row: _tagged(row, *found), fixes, "row")


def read_word_lists(
    path: Path, requested: str | None, usual: str | None, fixes: InputFixes
) -> dict[int, tuple[str, ...]] | None:
    """The words to predict tags for, by row, in the requested column, the usual one of training, or one whose name says
    it; None if that has no lists. A row without words keeps its place, and is noted."""
    if suffix(path) != PARQUET:
        return None
    stored = read_parquet(path)
    rows = [row.fields for row in stored.rows]
    column = requested or (usual if usual in stored.names else None) or _word_column(rows)
    if column is None or not _has_words(rows, column):
        return None
    sentences: dict[int, tuple[str, ...]] = {}
    faults: list[BadRow] = []
    for row in stored.rows:
        try:
            sentences[row.location.line] = _filled(row, column)
        except BadRow as fault:
            sentences[row.location.line] = ()
            faults.append(fault)
    fixes.skipped.append(columns_note(path.name, {"words": column}, stored.names, lambda: rows, splits=False))
    note_unread(path, faults, fixes, "row")
    return sentences


def _unclear(path: Path, names: Sequence[str], rows: Rows) -> DataError:
    """With the columns that may be meant, if there are two lists of the same length."""
    words = next((name for name in keys_of_type(list, rows) if _has_words(rows, name) and _tag_lists(rows, name)), None)
    named = f" If two of them are these: {columns_option((words, _tag_lists(rows, words)[-1]))}" if words else ""
    return DataError(
        f"'{path}' has the columns {quote_list(names, 10)}: expected lists of words, such as 'tokens', and of their "
        f"tags, such as 'ner_tags'.{named}"
    )


def _word_column(rows: Rows) -> str | None:
    names = dict.fromkeys(name for row in rows for name in row)
    return next((name for name in names if name.casefold() in WORD_NAMES and _has_words(rows, name)), None)


def _has_lists(rows: Rows, name: str) -> bool:
    """Whether most rows have a list there."""
    return 2 * sum(isinstance(row.get(name), list) for row in rows) > len(rows)


def _has_words(rows: Rows, name: str) -> bool:
    return _has_lists(rows, name) and all(isinstance(item, str | None) for item in _items(rows, name))


def _tag_lists(rows: Rows, words: str) -> list[str]:
    """The other columns with lists of strings or integers that are as long as those of the words in most rows."""
    return [
        name
        for name in keys_of_type(list, rows)
        if name != words
        and all(isinstance(item, str | int | None) for item in _items(rows, name))
        and 2 * sum(len(row.get(name) or ()) == len(row.get(words) or ()) for row in rows) > len(rows)
    ]


def _items(rows: Rows, name: str) -> list[Any]:
    return [item for row in rows if isinstance(row.get(name), list) for item in row[name]]


def _note(path: Path, stored: ParquetRows, found: tuple[str, str], named: bool) -> str:
    rows = [row.fields for row in stored.rows]
    note = columns_note(path.name, {"words": found[0], "tags": found[1]}, stored.names, lambda: rows, splits=False)
    others = [name for name in _tag_lists(rows, found[0]) if name != found[1]]
    meant = f"; others may be meant, {quote_list(others)}: {columns_option((found[0], others[-1]))}" if others else ""
    return note if named else f"{note}{meant}"


def _tagged(row: TableRow, words: str, tags: str) -> LocatedExample:
    found = _filled(row, words), _filled(row, tags)
    if len(found[0]) != len(found[1]):
        sizes = counted(len(found[0]), "word"), counted(len(found[1]), "tag")
        raise BadRow(row.location, f"'{words}' has {sizes[0]}, but '{tags}' has {sizes[1]}.")
    return LocatedExample(TaggedSentence(*found), row.location)


def _filled(row: TableRow, name: str) -> tuple[str, ...]:
    """The strings or integers of a list, without the whitespace around them; BadRow if it has others, or none."""
    value = row.fields.get(name)
    if not isinstance(value, list):
        raise BadRow(row.location, f"'{name}' is {type_name(value)}, expected a list.")
    if wrong := [item for item in value if not isinstance(item, str | int)]:
        raise BadRow(row.location, f"'{name}' has {type_name(wrong[0])} in it, expected words or tags.")
    items = tuple(str(item).strip() for item in value)
    if not all(items):
        raise BadRow(row.location, f"'{name}' has an empty string in it.")
    if not items:
        raise BadRow(row.location, f"'{name}' is an empty list.")
    return items
