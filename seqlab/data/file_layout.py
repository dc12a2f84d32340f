"""What the lines of a file with an unhelpful name look like: tagged words, a table, or neither."""

import csv
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from seqlab.data.drawn_tables import drawn_table
from seqlab.data.files import read_beginning

SAMPLE_BYTES = 64 * 1024
MIN_LINES = 4
FITTING = 0.95  # the share of lines that have the columns of a layout
LABELED = 0.5  # the share of lines with a label of fastText: no other text has them, so the rest lack theirs
MAX_COLUMNS = 60
SPAN_TAG = re.compile(r"O|[BIESLUM][-_]\S+")
SENTENCE_END = re.compile(r"\w[.!?…]['\"”’»)]*$")  # a word of prose, at the end of its line
ENTITY = re.compile(r"&#?\w+;")  # of HTML: its semicolon separates nothing
LABEL = "__label__"  # with which a label begins in files of fastText
LABEL_WORD = re.compile(rf"(?<!\S){LABEL}(\S*)")
INDENT = re.compile(r"^[ \t]*(?:(?:[-*–•·‣◦▪]|\d{1,4}[.)])\t+)?")  # also the mark of an item; + may be a label
NAME = re.compile(r"[^\W\d][\w.-]{0,39}")  # of a column
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars"}


@dataclass(frozen=True)
class FileLayout:
    """Lines that form columns; `certain` if nothing else has such lines. Of `other`, no examples can be read."""

    kind: Literal["tagged", "conllu", "labeled", "table", "other"]
    reason: str
    certain: bool = False
    columns: tuple[str, str] | None = None  # of texts and labels, that the user may name
    pair: tuple[str, str] | None = None  # of texts and targets
    is_text: bool = True  # whether it can be read as running text
    missing: float = 0.0  # the share of rows without a text, if there are more than are skipped by default
    text_column: str | None = None  # of rows: the one that is then read


def recognize_layout(path: Path) -> FileLayout | None:
    """The layout of the first lines, if nearly all of them have it; None for running text or an unreadable file."""
    try:
        lines, _ = read_beginning(path, SAMPLE_BYTES)
    except (OSError, EOFError, zlib.error):
        return None  # reading the text reports it
    if any("\0" in line for line in lines):
        return None  # reading the text reports this, too
    if table := drawn_table(lines):
        return _of_widths(path.name, table.widths, "|")
    filled = [ENTITY.sub("", line) for line in lines if line.strip() and not line.startswith(("-DOCSTART-", "# "))]
    labeled = sum(LABEL_WORD.search(line) is not None for line in filled)
    if labeled and labeled >= LABELED * len(filled):
        reason = f"the lines of {path.name} have words that begin with {LABEL}, as in fastText"
        return FileLayout("labeled", reason, certain=True)
    if len(filled) < MIN_LINES:
        return None
    return _tagged(path.name, lines, filled) or _table(path.name, filled)


def is_table_by_lines(path: Path) -> bool:
    """Whether a file whose suffix does not say so can be read as a table: a .txt file, or one with lines of fields."""
    return path.suffix.lower() == ".txt" or ((layout := recognize_layout(path)) is not None and layout.kind == "table")


def _tagged(name: str, lines: Sequence[str], filled: Sequence[str]) -> FileLayout | None:
    """A word first and its tag last, the same number of columns in every line, sentences between blank lines."""
    by_tabs = sum("\t" in line for line in filled) > len(filled) / 2
    rows = [line.split("\t") if by_tabs else line.split() for line in filled]
    columns, share = _columns([len(row) for row in rows])
    if not 2 <= columns <= MAX_COLUMNS or share < FITTING:
        return None
    rows = [row for row in rows if len(row) == columns]
    if columns == 10 and sum(row[0].isdigit() for row in rows) > FITTING * len(rows):
        return FileLayout("conllu", f"{name} has the ten columns of CoNLL-U in {share:.0%} of its lines", certain=True)
    tags = Counter(row[-1].strip() for row in rows)
    about = f"{share:.0%} of the lines of {name} have {columns} columns"
    if any(tag != "O" for tag in tags) and all(SPAN_TAG.fullmatch(tag) for tag in tags):
        return FileLayout("tagged", f"{about}, the last of them span tags such as {_example(tags)}", certain=True)
    has_sentences = any(not line.strip() for line in lines[:-1])
    one_word_each = all(" " not in row[0].strip() for row in rows)
    if sum(row[0][:1].isupper() and bool(SENTENCE_END.search(row[-1])) for row in rows) > len(rows) / 2:
        return None  # sentences of equal length
    if has_sentences and one_word_each and len(tags) <= max(2, len(rows) // 4) and not any(map(_is_long, tags)):
        return FileLayout("tagged", f"{about}, the last of them one of {len(tags)} tags such as {_example(tags)}")
    return None


def _table(name: str, filled: Sequence[str]) -> FileLayout | None:
    for separator in SEPARATORS:
        if separator == ";" and sum(line.count("; ") for line in filled) > sum(line.count(";") for line in filled) / 2:
            continue  # punctuation: programs write no space after a separator
        if separator == "\t" and sum("\t" not in INDENT.sub("", line) for line in filled) >= FITTING * len(filled):
            continue  # it moves lines to the right, and separates nothing
        widths = [line.count(separator) + 1 for line in filled]
        if _columns(widths)[0] == 2 and 2 * sum(line.rstrip(" ").endswith(separator) for line in filled) > len(filled):
            continue  # it ends statements, and separates nothing
        if layout := _of_widths(name, widths, separator):
            return layout
    return next((layout for separator in (",", *SEPARATORS) if (layout := _below_names(name, filled, separator))), None)


def _below_names(name: str, filled: Sequence[str], separator: str) -> FileLayout | None:
    """A table with a line of names above it: without one, commas and quotation marks are those of any text."""
    try:
        rows = [row for row in csv.reader(filled, delimiter=separator) if row]
    except csv.Error:
        return None
    if not rows:
        return None
    names, widths = rows[0], [len(row) for row in rows]  # a space after a comma is prose
    if len({*names}) < len(names) or not all(map(NAME.fullmatch, names)) or len(names) != _columns(widths)[0]:
        return None
    return _of_widths(name, widths, separator)


def _of_widths(name: str, widths: Sequence[int], separator: str) -> FileLayout | None:
    """A table, if nearly all of its rows have the same number of fields."""
    columns, share = _columns(widths)
    if len(widths) < MIN_LINES or columns < 2 or share < FITTING:
        return None
    word = {",": "commas", **SEPARATORS}[separator]
    return FileLayout("table", f"{share:.0%} of the lines of {name} have {columns} fields separated by {word}")


def _columns(counts: Sequence[int]) -> tuple[int, float]:
    """The most frequent number of columns, and the share of the lines that have it, in whole percent.

    It is rounded down: 100% are all lines."""
    columns, lines = Counter(counts).most_common(1)[0]
    return columns, 100 * lines // len(counts) / 100


def _example(tags: Counter[str]) -> str:
    return next((tag for tag, _ in tags.most_common() if tag != "O"), "O")


def _is_long(tag: str) -> bool:
    return len(tag) > 20 or " " in tag
