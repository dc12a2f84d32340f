"""The task that files are for, if their names or first lines make it clear; otherwise they are running text."""

import csv
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from seqlab.config import ExampleKind
from seqlab.data.corpora.source import form_and_packing, is_text_only
from seqlab.data.documents.collection_layout import is_collection
from seqlab.data.examples.array_labels import as_tagged, keys_of_type, labels_in_arrays, nesting_note
from seqlab.data.examples.columns import (
    LABELED,
    PAIRS,
    SEPARATORS,
    is_pair_rather,
    known_columns,
    readable_columns,
)
from seqlab.data.examples.csv_records import csv_fault
from seqlab.data.examples.example_folders import unclear_folder
from seqlab.data.examples.json_forms import form_of_file, form_of_line, form_of_object
from seqlab.data.examples.label_columns import label_columns_note
from seqlab.data.examples.lines import COLUMNS, CONLLU, JSON_LINES, TABLES, TEXT_TABLES, column_word, quote_list, suffix
from seqlab.data.examples.numbered_columns import requested_names
from seqlab.data.examples.parquet_sentences import lists_of_words
from seqlab.data.examples.possible_columns import possible_columns
from seqlab.data.examples.table_sample import SAMPLE_BYTES, SAMPLE_ROWS, TableSample, sample_table
from seqlab.data.examples.tagged_tables import word_rows
from seqlab.data.examples.title_lines import header_below
from seqlab.data.file_layout import FileLayout, recognize_layout
from seqlab.data.file_names import name_files
from seqlab.data.files import InputFixes, read_beginning, read_file
from seqlab.data.language_suffixes import are_languages, may_be_language
from seqlab.data.lost_characters import REPLACEMENT
from seqlab.data.parquet_files import PARQUET
from seqlab.data.text.forms import form_of_text, layout_of_text
from seqlab.data.text_columns import text_keys, with_text_column
from seqlab.errors import DataError
from seqlab.registry import CORPORA, TASKS
from seqlab.wording import counted


class InferredTask(NamedTuple):
    """A task, and the reason in words."""

    name: str
    reason: str


def infer_task(source: Sequence[str], columns: tuple[str, str] | None = None) -> InferredTask | None:
    """The task, or None if it is unclear; `columns` are those that the user named."""
    if len(source) == 1 and source[0] in CORPORA:
        task = CORPORA.default_overrides(source[0]).get("task.name")
        return InferredTask(task, f"the built-in corpus '{source[0]}' is made for it") if task else None
    if is_collection(source):
        return _task("documents", f"'{source[0]}' has documents and queries, in the layout of BEIR")
    paths = [Path(item) for item in source]
    if not paths or not all(map(_is_file, paths)):
        return None
    if len(paths) == 2 and are_languages(paths[0], paths[1]):
        return _task("pairs", f"{paths[0].name} and {paths[1].name} look like one text in two languages")
    tasks = [_from_file(path, columns) for path in paths]
    agree = len({task and task.name for task in tasks}) == 1
    return tasks[0] if agree else None


def plain_text_note(source: Sequence[str]) -> str | None:
    """A note if two files that look like pairs of lines are read as running text."""
    paths = [Path(item) for item in source if item not in CORPORA]
    names = " and ".join(path.name for path in paths)
    if _may_be_parallel(source):
        differ = suffix(paths[0]) != suffix(paths[1])
        why = "their names differ in more than the suffix" if differ else "both have the same suffix"
        return f"{names}: read as one running text, since {why}. For pairs of lines, set --task translate"
    return None


def _may_be_parallel(source: Sequence[str]) -> bool:
    """Whether there are two files whose suffixes may be languages."""
    paths = [Path(item) for item in source if item not in CORPORA]
    return len(paths) == 2 and all(map(_is_file, paths)) and all(may_be_language(suffix(path)) for path in paths)


def _task(kind: ExampleKind, reason: str) -> InferredTask | None:
    """The first registered task that reads examples of this kind."""
    names = (name for name in TASKS.builtin() if TASKS.settings(name).examples == kind)
    return next((InferredTask(name, reason) for name in names), None)


def _from_file(path: Path, columns: tuple[str, str] | None) -> InferredTask | None:
    if is_text_only(str(path)):
        return None
    if suffix(path) == CONLLU:
        return _task("tagged", f"{path.name} is CoNLL-U, by its suffix")
    if suffix(path) in COLUMNS:
        return _task("tagged", f"{path.name} has a word and its tag on each line, by its suffix")
    if suffix(path) in TABLES:
        task = _from_table(path, columns)
        if task or columns or suffix(path) != ".tsv":  # words and tags in two columns are often called .tsv
            return task
    layout = recognize_layout(path)
    kind = "labeled" if layout and layout.kind == "labeled" else "tagged"
    return _task(kind, layout.reason) if layout and layout.certain else None


def unclear_layout(source: Sequence[str]) -> FileLayout | None:
    """The layout of files that may be examples, but do not say of which kind: the user must choose the task."""
    paths = [Path(item) for item in source if item not in CORPORA]
    for path in paths:
        if layout := _unclear(path):
            return layout
    if len(paths) > 1 and any(suffix(path) in TEXT_TABLES for path in filter(_is_file, paths)):
        return FileLayout("other", f"the files are not of one kind, {name_files([*map(str, paths)])}: give one kind")
    return None


def possible_tasks(layout: FileLayout, source: Sequence[str]) -> dict[str, str]:
    """The tasks that files of an unclear layout may be for, and how each would read them."""
    if layout.kind == "other":
        return {}
    if layout.kind == "table":
        both = {"classify": "a text and its label on each line", "translate": "a text and its target on each line"}
        columns = {"classify": layout.columns, "translate": layout.pair}
        return {task: reading for task, reading in both.items() if columns[task] or not any(columns.values())}
    parallel = {"translate": "a text on each line, its target on that line of the other file"}
    return {"tag": "a word and its tag on each line", **(parallel if _may_be_parallel(source) else {})}


def _unclear(path: Path) -> FileLayout | None:
    if _is_folder(path):
        return unclear_folder(path)
    if not _is_file(path) or suffix(path) in (*COLUMNS, CONLLU, PARQUET) or is_text_only(str(path)):
        return None
    if suffix(path) not in TABLES:
        layout = layout_of_text(path)
        return _of_lines(path, layout) if layout and layout.kind == "table" else layout
    if _from_table(path, None):
        return None
    layout = recognize_layout(path) if suffix(path) == ".tsv" else None
    return layout if layout and layout.kind == "tagged" else _unclear_table(path)


def _of_lines(path: Path, layout: FileLayout) -> FileLayout:
    """The layout of a table whose suffix does not say so; no table if its first line is no header of most."""
    lines = read_beginning(path, SAMPLE_BYTES)[0]
    rows: Sequence[Mapping[str, Any]] = []
    with suppress(ValueError, csv.Error):
        rows = sample_table(path).rows
    if rows and len(rows[0]) > 1 and 4 * len(rows) >= min(len(lines), SAMPLE_ROWS):  # others are blank or drawn
        return _with_columns(layout, rows)
    header = header_below(path, lines) or "its first line is no header for them"
    return replace(layout, kind="other", reason=f"{layout.reason}, but {header}")


def _has_text(path: Path, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a table is also a running text: JSON lines are the texts of one key."""
    return form_and_packing(path.name)[0] != "rows" or bool(text_keys(rows))


def _refuse_unreadable(path: Path, names: Sequence[str]) -> None:
    """DataError for an empty table, and for names in another encoding, which reading tells."""
    if not names and read_beginning(path, SAMPLE_BYTES)[1]:
        raise DataError(f"'{path}' is empty. Expected a table with rows.")
    if any(REPLACEMENT in name for name in names):
        next(read_file(path, InputFixes()), None)


def _unclear_table(path: Path) -> FileLayout | None:
    """Which columns a table has, if they do not tell the task; None if reading the file will say what is wrong."""
    are_rows = form_and_packing(path.name)[0] == "rows"  # of which every one must be an object
    try:
        sample = sample_table(path)
        _refuse_unreadable(path, names := sample.names)
    except (OSError, EOFError, zlib.error):
        return None
    except (ValueError, RecursionError, csv.Error) as error:
        if any("\0" in line for line in read_beginning(path, SAMPLE_BYTES)[0]):
            return None  # reading the text reports it
        return FileLayout("other", _first_line_fault(path, error), is_text=not are_rows)
    if not names and suffix(path) in JSON_LINES and (form := form_of_file(path)):
        return FileLayout("other", form, is_text=not are_rows)
    if not names:
        return FileLayout("other", f"the first line of {path.name} has more than {SAMPLE_BYTES:,} bytes")
    word = column_word(path)
    if form := _other_form(path, sample):
        return with_text_column(path, form, sample.rows)
    twice = [name for name in names if name and names.count(name) > 1]
    once = list(dict.fromkeys(names))
    wanted = {*(known_columns(once, LABELED) or ()), *(known_columns(once, PAIRS) or ())}
    if twice and (len(once) - len({*twice}) < 2 or not wanted.isdisjoint(twice)):
        return FileLayout("other", f"{path.name} has several columns named '{twice[0]}': rename all but one")
    expected = "expected 'text' and 'label', 'source' and 'target', or other known names"
    named = [name for name in names if name]
    nameless = f" and {counted(len(names) - len(named), word)} without a name" if len(named) < len(names) else ""
    seen = f"the {word}s {quote_list(named, 10)}{nameless}" if len(names) > 1 else f"only the {word} '{names[0]}'"
    reason = f"{path.name} has {seen}: {expected}"
    if len(names) == 1 and word == "column":
        reason += f". {SEPARATORS}"
    is_text = _has_text(path, sample.rows)
    reason += nesting_note(path, sample.rows, is_text) + as_tagged(path, sample.rows)
    reason += _rows_by_another_name(path, sample.rows)
    rows = readable_columns(sample.rows)
    readable = len(rows[0]) > 1 if rows else len(named) > 1
    layout = _with_columns(FileLayout("table", reason), rows) if readable else FileLayout("other", reason)
    others = label_columns_note(path, rows, layout.columns)
    layout = replace(layout, reason=f"{layout.reason}{others}", is_text=is_text)
    return with_text_column(path, layout, sample.rows)


def _rows_by_another_name(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """How to read the texts of JSON lines alone, where the name makes them a single JSON value."""
    form = form_of_text(path) if suffix(path) == ".json" and text_keys(rows) else None
    return f". {form.advice}" if form else ""


def _first_line_fault(path: Path, error: Exception) -> str:
    if suffix(path) in JSON_LINES:
        return form_of_file(path) or form_of_line(path, read_beginning(path, SAMPLE_BYTES)[0])
    if (form := form_of_text(path)) and form.is_spaced:
        return f"{path.name} looks like {form.looks_like}. {form.advice}"
    fault = csv_fault(error) if isinstance(error, csv.Error) else str(error)
    return f"the first line of {path.name} is no header, whose names stand on one line: {fault}"


def _other_form(path: Path, sample: TableSample) -> FileLayout | None:
    """What the rows are, if they are no rows of examples below the names of their columns."""
    if form := _in_one_object(path, sample):
        return FileLayout("other", form)
    if not as_tagged(path, sample.rows) and (arrays := labels_in_arrays(path, sample.rows)):
        return FileLayout("other", arrays)
    has_rows = form_and_packing(path.name)[0] == "rows" and _has_text(path, sample.rows)
    printed = None if has_rows else form_of_text(path)
    if printed and (len(sample.names) == 1 or printed.is_annotated or printed.has_tags):
        reason = f"{path.name} looks like {printed.looks_like}. {printed.advice}"
        return FileLayout("other", reason, is_text=_has_text(path, sample.rows))
    lines = [] if suffix(path) in JSON_LINES else read_beginning(path, SAMPLE_BYTES)[0]
    if below := header_below(path, lines):
        return FileLayout("other", below)
    if words := word_rows(path, sample.rows):
        return FileLayout("other", words)
    if sample.is_scattered:
        return FileLayout("other", f"{path.name} has {quote_list(sample.names, 10)}, and no row has two of them")
    if sample.header or len(sample.names) < 2:
        return None
    first = f"the first line of {path.name} looks like data, not like a header ({quote_list(sample.names, 4)})"
    return _with_columns(FileLayout("table", f"{first}: columns are named by their numbers"), sample.rows)


def _in_one_object(path: Path, sample: TableSample) -> str | None:
    return form_of_object(path, sample.rows[0]) if suffix(path) in JSON_LINES and len(sample.rows) == 1 else None


def _with_columns(layout: FileLayout, rows: Sequence[Mapping[str, Any]]) -> FileLayout:
    """The layout with columns that the user may name, for each kind of examples that they may be."""
    labeled, pair, why = possible_columns(rows)
    if why:
        return replace(layout, kind="other", reason=f"{layout.reason}. No column has labels: {why}")
    return replace(layout, columns=labeled, pair=pair)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()  # a pipe could not be read a second time
    except (OSError, ValueError):
        return False


def _from_table(path: Path, columns: tuple[str, str] | None) -> InferredTask | None:
    try:
        sample = sample_table(path)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, csv.Error):
        return None  # the error appears when the file is read
    if lists := lists_of_words(path, sample.rows, columns):
        return _task("tagged", f"{path.name} has lists of words in '{lists[0]}' and of their tags in '{lists[1]}'")
    names = requested_names(columns, sample.names, path) if columns else sample.names
    if len(names) < 2 or _in_one_object(path, sample):
        return None
    labeled, pair = known_columns(names, LABELED), known_columns(names, PAIRS)
    if pair and pair[1].casefold() == "label":
        pair = None  # nobody calls a translation that
    labeled = None if labeled and pair and is_pair_rather(sample.rows, labeled, pair) else labeled
    if not columns and not {*(labeled or ()), *(pair or ())}.isdisjoint(keys_of_type(dict, sample.rows)):
        return None
    if columns and not labeled and len(names) == 2 and names[1].casefold() in {*PAIRS.second} - {*LABELED.second}:
        pair = names[0], names[1]  # instruction and output
    if labeled or (columns and not pair):
        first, second = labeled or names[:2]
        return _task("labeled", f"{path.name} has the {column_word(path)}s '{first}' and '{second}'")
    return _task("pairs", f"{path.name} has the {column_word(path)}s '{pair[0]}' and '{pair[1]}'") if pair else None
