"""What files are for, where that is plain from their names or their first line; else they are running text."""

import csv
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from seqlab.data.examples.columns import LABELLED, PAIRS, known_columns
from seqlab.data.examples.lines import COLUMNS, CONLLU, JSON_LINES, TABLES, suffix
from seqlab.data.examples.tables import header_names
from seqlab.registry import CORPORA

MOST = 64 * 1024  # bytes that are looked at
# endings of two or three letters that name no language
NO_LANGUAGES = {
    *("txt", "tsv", "csv", "bio", "iob", "md", "rst", "tex", "bib", "log", "xml", "htm", "svg", "ini", "cfg", "sql"),
    *("css", "js", "jsx", "tsx", "py", "pyi", "rs", "go", "rb", "sh", "cc", "cpp", "hpp", "php", "lua", "srt", "vtt"),
    *("bak", "old", "org", "tmp", "doc", "pdf", "zip", "dat"),
}

Guess = tuple[str, str]


def guess_task(source: Sequence[str], columns: tuple[str, str] | None = None) -> Guess | None:
    """The task and, in words, what tells it; None where nothing does. `columns` are those that the user named."""
    if len(source) == 1 and source[0] in CORPORA:
        task = CORPORA.default_overrides(source[0]).get("task.name")
        return (task, f"the built-in corpus '{source[0]}' is made for it") if task else None
    paths = [Path(item) for item in source]
    try:
        if not paths or not all(path.is_file() for path in paths):  # a pipe could not be read a second time
            return None
    except OSError:
        return None
    if len(paths) == 2 and _are_languages(paths[0], paths[1]):
        return "translate", f"{paths[0].name} and {paths[1].name} are the same text in two languages, by their names"
    guesses = [_of_file(path, columns) for path in paths]
    agree = len({guess and guess[0] for guess in guesses}) == 1
    return guesses[0] if agree else None


def plain_text_note(source: Sequence[str]) -> str | None:
    """What to say where files that look like examples are read as running text."""
    paths = [Path(item) for item in source if item not in CORPORA]
    names = " and ".join(path.name for path in paths)
    if any(suffix(path) in TABLES for path in paths):
        return f"{names}: read as running text, as no columns say what for. Of examples, give --task and corpus.columns"
    if len(paths) == 2 and all(_may_be_a_language(suffix(path)) for path in paths):
        return f"{names}: read as one running text. Of lines that belong together, give --task translate"
    return None


def _of_file(path: Path, columns: tuple[str, str] | None) -> Guess | None:
    if suffix(path) == CONLLU:
        return "tag", f"{path.name} is CoNLL-U, by its ending"
    if suffix(path) in COLUMNS:
        return "tag", f"{path.name} has a word and its tag on each line, by its ending"
    return _of_table(path, columns) if suffix(path) in TABLES else None


def _of_table(path: Path, columns: tuple[str, str] | None) -> Guess | None:
    try:
        names = header_names(suffix(path), _first_line(path))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, csv.Error):
        return None  # reading it says what is wrong with it
    word = "keys" if suffix(path) in JSON_LINES else "columns"
    if columns:
        names = [name for wanted in columns for name in names if name.casefold() == wanted.casefold()]
    if len(names) < 2:
        return None
    texts, pairs = known_columns(names, LABELLED), known_columns(names, PAIRS)
    if pairs and pairs[1].casefold() == "label":
        pairs = None  # nobody calls a translation that
    if texts or (columns and not pairs):
        first, second = texts or names[:2]
        return "classify", f"{path.name} has the {word} '{first}' and '{second}'"
    return ("translate", f"{path.name} has the {word} '{pairs[0]}' and '{pairs[1]}'") if pairs else None


def _first_line(path: Path) -> str:
    """The first line that is not blank; ValueError where there is none, or it is not over soon."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        raw = stream.read(MOST)
    lines = raw.decode("utf-8-sig", errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            if number == len(lines) and len(raw) == MOST:
                break
            return line
    raise ValueError("no line")


def _are_languages(first: Path, second: Path) -> bool:
    """Whether two files differ in an ending that may well be a language: train.en train.de."""
    endings = [suffix(path) for path in (first, second)]
    stems = [path.name.lower().removesuffix(".gz").removesuffix(suffix(path)) for path in (first, second)]
    return stems[0] == stems[1] and endings[0] != endings[1] and all(map(_may_be_a_language, endings))


def _may_be_a_language(ending: str) -> bool:
    return re.fullmatch(r"\.[a-z]{2,3}", ending) is not None and ending[1:] not in NO_LANGUAGES
