"""The task that files are for, if their names or first lines make it clear; otherwise they are running text."""

import csv
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.config import ExampleKind
from seqlab.data.examples.columns import LABELED, PAIRS, known_columns
from seqlab.data.examples.lines import COLUMNS, CONLLU, JSON_LINES, TABLES, suffix
from seqlab.data.examples.tables import header_names
from seqlab.data.file_layout import FileLayout, recognize_layout
from seqlab.registry import CORPORA, TASKS

# suffixes of two or three letters that are not language codes
OTHER_SUFFIXES = {
    *("txt", "tsv", "csv", "bio", "iob", "md", "rst", "tex", "bib", "log", "xml", "htm", "svg", "ini", "cfg", "sql"),
    *("css", "js", "jsx", "tsx", "py", "pyi", "rs", "go", "rb", "sh", "cc", "cpp", "hpp", "php", "lua", "srt", "vtt"),
    *("bak", "old", "org", "tmp", "doc", "pdf", "zip", "dat"),
}


class InferredTask(NamedTuple):
    """A task, and the reason in words."""

    name: str
    reason: str


def infer_task(source: Sequence[str], columns: tuple[str, str] | None = None) -> InferredTask | None:
    """The task, or None if it is unclear; `columns` are those that the user named."""
    if len(source) == 1 and source[0] in CORPORA:
        task = CORPORA.default_overrides(source[0]).get("task.name")
        return InferredTask(task, f"the built-in corpus '{source[0]}' is made for it") if task else None
    paths = [Path(item) for item in source]
    if not paths or not all(map(_is_file, paths)):
        return None
    if len(paths) == 2 and _are_languages(paths[0], paths[1]):
        return _task("pairs", f"{paths[0].name} and {paths[1].name} look like one text in two languages")
    tasks = [_from_file(path, columns) for path in paths]
    agree = len({task and task.name for task in tasks}) == 1
    return tasks[0] if agree else None


def plain_text_note(source: Sequence[str]) -> str | None:
    """A note if files that look like examples are read as running text."""
    paths = [Path(item) for item in source if item not in CORPORA]
    names = " and ".join(path.name for path in paths)
    if any(suffix(path) in TABLES for path in paths):
        return f"{names}: read as running text, since no columns are known. For examples, set --task and corpus.columns"
    if len(paths) == 2 and all(_may_be_language(suffix(path)) for path in paths):
        return f"{names}: read as one running text. For pairs of lines, set --task translate"
    return None


def _task(kind: ExampleKind, reason: str) -> InferredTask | None:
    """The first registered task that reads examples of this kind."""
    names = (name for name in TASKS.builtin() if TASKS.settings(name).examples == kind)
    return next((InferredTask(name, reason) for name in names), None)


def _from_file(path: Path, columns: tuple[str, str] | None) -> InferredTask | None:
    if suffix(path) == CONLLU:
        return _task("tagged", f"{path.name} is CoNLL-U, by its suffix")
    if suffix(path) in COLUMNS:
        return _task("tagged", f"{path.name} has a word and its tag on each line, by its suffix")
    if suffix(path) in TABLES:
        return _from_table(path, columns)
    layout = recognize_layout(path)
    return _task("tagged", layout.reason) if layout and layout.certain else None


def unclear_layout(source: Sequence[str]) -> FileLayout | None:
    """The layout of a file that may be examples, although its name does not say so: the user must choose the task."""
    for item in source:
        path = Path(item)
        if item in CORPORA or not _is_file(path) or suffix(path) in (*TABLES, *COLUMNS, CONLLU):
            continue
        if layout := recognize_layout(path):
            return layout
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()  # a pipe could not be read a second time
    except OSError:
        return False


def _from_table(path: Path, columns: tuple[str, str] | None) -> InferredTask | None:
    try:
        names = header_names(path)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, csv.Error):
        return None  # the error appears when the file is read
    word = "keys" if suffix(path) in JSON_LINES else "columns"
    if columns:
        names = [name for column in columns for name in names if name.casefold() == column.casefold()]
    if len(names) < 2:
        return None
    labeled, pair = known_columns(names, LABELED), known_columns(names, PAIRS)
    if pair and pair[1].casefold() == "label":
        pair = None  # nobody calls a translation that
    if labeled or (columns and not pair):
        first, second = labeled or names[:2]
        return _task("labeled", f"{path.name} has the {word} '{first}' and '{second}'")
    return _task("pairs", f"{path.name} has the {word} '{pair[0]}' and '{pair[1]}'") if pair else None


def _are_languages(first: Path, second: Path) -> bool:
    """Whether two files differ in a suffix that may be a language: train.en train.de."""
    suffixes = [suffix(path) for path in (first, second)]
    stems = [path.name.lower().removesuffix(".gz").removesuffix(suffix(path)) for path in (first, second)]
    return stems[0] == stems[1] and suffixes[0] != suffixes[1] and all(map(_may_be_language, suffixes))


def _may_be_language(suffix: str) -> bool:
    return re.fullmatch(r"\.[a-z]{2,3}", suffix) is not None and suffix[1:] not in OTHER_SUFFIXES
