"""The inputs of a file to predict from: what training would read, without labels or targets.

A text that is missing or broken keeps its place, as an empty input. So does a row without content.
"""

import zlib
from pathlib import Path

from seqlab.config import ExampleKind
from seqlab.data.examples.column_notes import columns_note
from seqlab.data.examples.columns import LABELED, PAIRS, find_input_column
from seqlab.data.examples.conll import read_words
from seqlab.data.examples.lines import COLUMNS, CONLLU, TABLES, BadRow, note_unread, numbered_lines, suffix
from seqlab.data.examples.tables import open_table, text_in
from seqlab.data.file_layout import SAMPLE_BYTES, recognize_layout
from seqlab.data.files import InputFixes, read_beginning
from seqlab.errors import DataError, UsageError

Input = str | tuple[str, ...]  # a text, or the words of a sentence


def read_inputs(
    kind: ExampleKind, path: Path, column: str | None, fixes: InputFixes, trained: tuple[str, str] | None = None
) -> dict[int, Input]:
    """The texts of a table, the sentences of tagged words, or the lines of any other file, by their first line.

    `trained` are the columns that training read, if they were named."""
    layout = recognize_layout(path) if suffix(path) not in (*TABLES, *COLUMNS, CONLLU) else None
    named = suffix(path) in (*COLUMNS, CONLLU, ".tsv")
    if kind == "tagged" and (named or (layout and layout.kind in ("tagged", "conllu")) or _has_tabs(path)):
        _refuse_column(column, path)
        conllu = suffix(path) == CONLLU or (layout is not None and layout.kind == "conllu")
        return {**read_words(path, conllu, fixes, trained)}
    column = column or (trained[0] if trained and suffix(path) in TABLES else None)
    if suffix(path) in (*COLUMNS, CONLLU) or (layout and layout.certain):
        reason = layout.reason if layout else f"{path.name} has a word and its tag on each line, by its suffix"
        raise DataError(f"{reason}, and this run reads texts. Give a table ({', '.join(TABLES)}) or a text per line.")
    if suffix(path) in TABLES or column or (layout and layout.kind == "table"):
        return _from_table(path, kind, column, fixes)
    if kind == "tagged":  # words and tags between spaces are not recognized in a few lines
        fixes.remarks.append(f"each line of {path.name} is a text, not a word and its tag")
    return dict(numbered_lines(path, fixes))


def _has_tabs(path: Path) -> bool:
    """Whether each of the first lines has a tab, as words and tags do, and the name does not say that it is a table."""
    try:
        lines = [] if suffix(path) in TABLES else read_beginning(path, SAMPLE_BYTES)[0]
    except (OSError, EOFError, zlib.error):
        return False  # reading the text reports it
    filled = [line for line in lines if line.strip()]
    return bool(filled) and all("\t" in line for line in filled)


def _from_table(path: Path, kind: ExampleKind, column: str | None, fixes: InputFixes) -> dict[int, Input]:
    pair = PAIRS if kind == "pairs" else LABELED
    table = open_table(path, pair, fixes, (column,) if column else None, keep_blank=True)
    name = find_input_column(table.names, pair, column, table.header)
    texts: dict[int, Input] = {}
    faults: list[BadRow] = []
    for row in table.all_rows():
        try:
            if isinstance(row, BadRow):
                raise row
            texts[row.location.line] = text_in(row, name)
        except BadRow as fault:
            texts[fault.location.line] = ""
            faults.append(fault)
    fixes.skipped.append(columns_note(path.name, {pair.first[0]: name}, table.names, table.fields, splits=False))
    note_unread(path, faults, fixes, "row")
    return texts


def _refuse_column(column: str | None, path: Path) -> None:
    if column:
        raise UsageError(f"--column names a column of a table, but '{path}' has tagged words: leave it out.")
