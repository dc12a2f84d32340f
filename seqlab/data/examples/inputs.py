"""The inputs of a file to predict from: what training would read, without labels or targets.

A text that is missing or broken keeps its place, as an empty input.
"""

from collections.abc import Sequence
from pathlib import Path

from seqlab.config import ExampleKind
from seqlab.data.examples.columns import LABELED, PAIRS, find_input_column
from seqlab.data.examples.conll import read_words
from seqlab.data.examples.lines import COLUMNS, CONLLU, TABLES, BadRow, suffix
from seqlab.data.examples.tables import open_table, text_in
from seqlab.data.file_layout import recognize_layout
from seqlab.data.files import InputFixes, read_file, split_lines
from seqlab.errors import DataError, UsageError
from seqlab.wording import counted


def read_inputs(kind: ExampleKind, path: Path, column: str | None, fixes: InputFixes) -> list[str]:
    """The texts of a table, the sentences of tagged words, or the lines of any other file."""
    layout = recognize_layout(path) if suffix(path) not in (*TABLES, *COLUMNS, CONLLU) else None
    if kind == "tagged" and (suffix(path) in (*COLUMNS, CONLLU, ".tsv") or (layout and layout.kind != "table")):
        _refuse_column(column, path)
        conllu = suffix(path) == CONLLU or (layout is not None and layout.kind == "conllu")
        return [" ".join(words) for words in read_words(path, conllu, fixes)]
    if suffix(path) in (*COLUMNS, CONLLU) or (layout and layout.certain):
        reason = layout.reason if layout else f"{path.name} has a word and its tag on each line, by its suffix"
        raise DataError(f"{reason}, and this run reads texts. Give a table ({', '.join(TABLES)}) or a text per line.")
    if suffix(path) in TABLES or column or (layout and layout.kind == "table"):
        return _from_table(path, kind, column, fixes)
    return list(split_lines(read_file(path, fixes)))


def _from_table(path: Path, kind: ExampleKind, column: str | None, fixes: InputFixes) -> list[str]:
    pair = PAIRS if kind == "pairs" else LABELED
    table = open_table(path, pair, fixes, (column,) if column else None)
    name = find_input_column(table.names, pair, column, table.header)
    texts: list[str] = []
    faults: list[str] = []
    for row in table.rows:
        try:
            if isinstance(row, BadRow):
                raise row
            texts.append(text_in(row, name))
        except BadRow as fault:
            texts.append("")
            faults.append(f"line {fault.location.line}: {fault.reason.rstrip('.')}")
    fixes.skipped.append(f"the texts of {path.name} are in the column '{name}'")
    if faults:
        fixes.skipped.append(f"{counted(len(faults), 'row')} of {path.name} without a text to read ({_some(faults)})")
    return texts


def _some(faults: Sequence[str], most: int = 3) -> str:
    return "; ".join(faults[:most]) + (f"; and {len(faults) - most:,} more" if len(faults) > most else "")


def _refuse_column(column: str | None, path: Path) -> None:
    if column:
        raise UsageError(f"--column names a column of a table, but '{path}' has tagged words: leave it out.")
