"""The inputs of a file to predict from: what training would read, without labels or targets.

A text that is missing or broken keeps its place, as an empty input. So does a row without content.
"""

import csv
import json
import shlex
import zlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.config import CorpusSettings, ExampleKind
from seqlab.data.examples.array_labels import keys_of_type, refuse_words
from seqlab.data.examples.column_notes import columns_note
from seqlab.data.examples.columns import (
    LABELED,
    MAX_NAME,
    PAIRS,
    ColumnPair,
    Fields,
    has_numbers,
    is_name,
    known_columns,
    length_of,
    match_column,
    readable_columns,
)
from seqlab.data.examples.conll import DOCUMENT, read_words
from seqlab.data.examples.label_lines import text_of
from seqlab.data.examples.lines import (
    COLUMNS,
    CONLLU,
    TABLES,
    WITHOUT_HEADER,
    BadRow,
    Location,
    note_unread,
    numbered_lines,
    quote_list,
    suffix,
)
from seqlab.data.examples.no_labels import is_identifier
from seqlab.data.examples.parallel import languages_of_files
from seqlab.data.examples.parquet_sentences import read_word_lists
from seqlab.data.examples.repeated_columns import refuse_repeated
from seqlab.data.examples.table_sample import lacks_header, sample_table
from seqlab.data.examples.tables import open_table, text_in
from seqlab.data.file_layout import SAMPLE_BYTES, FileLayout, recognize_layout
from seqlab.data.files import InputFixes, read_beginning
from seqlab.data.standard_input import as_json_lines, called_by_name, copy_stdin, in_words
from seqlab.errors import DataError, UsageError

Input = str | tuple[str, ...]  # a text, or the words of a sentence


class Trained(NamedTuple):
    """What a run was trained on: the two columns, if they were named, its labels or tags, and what the inputs and the
    answers are called that it read: the columns of a table, or the suffixes of two files."""

    columns: tuple[str, str] | None = None
    labels: Collection[str] = ()
    names: tuple[str, str] | None = None

    @classmethod
    def on(cls, corpus: CorpusSettings, read: Sequence[Sequence[str]] = (), labels: Collection[str] = ()) -> "Trained":
        """`read`: the columns of tables that training read."""
        names = corpus.columns or next(((first, second) for first, second in read), None)
        return cls(corpus.columns, labels, names or languages_of_files(corpus.source))


NOTHING = Trained()


def read_standard_input(
    kind: ExampleKind, column: str | None, fixes: InputFixes, trained: Trained = NOTHING
) -> tuple[dict[int, Input], list[str]]:
    """The inputs of standard input, read like those of a file, and what was noticed."""
    copy = copy_stdin()
    if kind != "tagged" and _has_objects(copy):
        copy = as_json_lines(copy)
    with called_by_name(copy):
        inputs = read_inputs(kind, copy, column, fixes, trained)
    return inputs, [in_words(note, copy) for note in fixes.notes()]


def read_inputs(
    kind: ExampleKind, path: Path, column: str | None, fixes: InputFixes, trained: Trained = NOTHING
) -> dict[int, Input]:
    """The texts of a table, the sentences of tagged words, or the lines of any other file, by their first line."""
    read = _read_tagged if kind == "tagged" else _read_texts
    inputs = read(kind, path, column, fixes, trained)
    if not any(line.strip() if isinstance(line, str) else line for line in inputs.values()):
        why = next((f": line {line}: {reason}" for line, reason in fixes.unread.items()), ".")
        raise DataError(f"'{path}' {f'has no text to read{why}' if inputs and suffix(path) in TABLES else 'is empty.'}")
    return inputs


def _read_tagged(
    kind: ExampleKind, path: Path, column: str | None, fixes: InputFixes, trained: Trained
) -> dict[int, Input]:
    layout = recognize_layout(path) if suffix(path) not in (*TABLES, *COLUMNS, CONLLU) else None
    named = suffix(path) in (*COLUMNS, CONLLU, ".tsv")
    tagged = layout and layout.kind in ("tagged", "conllu")
    if named or tagged or _has_tags(path, trained.labels):
        if column:
            raise UsageError(f"--column names a column of a table, but '{path}' has tagged words: leave it out.")
        conllu = suffix(path) == CONLLU or (layout is not None and layout.kind == "conllu")
        return {**read_words(path, conllu, fixes, trained.columns)}
    usual = (trained.columns or (None,))[0]
    if (words := read_word_lists(path, column, usual, fixes)) is not None:
        return {**words}
    if suffix(path) in TABLES or column:
        return _from_table(path, kind, column or usual, fixes)
    fixes.remarks.append(f"each line of {path.name} is a text, not a word and its tag")
    return _text_lines(path, fixes)


def _read_texts(
    kind: ExampleKind, path: Path, column: str | None, fixes: InputFixes, trained: Trained
) -> dict[int, Input]:
    layout = recognize_layout(path) if suffix(path) not in (*TABLES, *COLUMNS, CONLLU) else None
    if kind == "labeled" and layout and layout.kind == "labeled" and not column:
        fixes.remarks.append(f"{layout.reason}: they are no part of the texts")
        return _text_lines(path, fixes, text_of)
    if suffix(path) in (*COLUMNS, CONLLU) or (layout and layout.certain):
        reason = layout.reason if layout else f"{path.name} has a word and its tag on each line, by its suffix"
        raise DataError(f"{reason}, and this run reads texts. Give a table ({', '.join(TABLES)}) or a text per line.")
    is_table = suffix(path) in TABLES or _is_table(path, kind, layout, trained.columns or trained.names)
    if is_table or column:
        usual = trained.columns[0] if trained.columns and is_table else None
        return _from_table(path, kind, column or usual, fixes, trained.names)
    if kind == "pairs":
        _refuse_targets([suffix(path).removeprefix(".")], trained.names, path, f"--file - < {shlex.quote(str(path))}")
    fixes.remarks.append(f"each line of {path.name} is a text, not a row of a table")
    return _text_lines(path, fixes)


def _text_lines(path: Path, fixes: InputFixes, text: Callable[[str], str] = str) -> dict[int, Input]:
    """A text of each line; those without one keep their places, and a note counts them."""
    texts: dict[int, Input] = {number: text(line) for number, line in numbered_lines(path, fixes)}
    blank = [number for number, line in texts.items() if not "".join(line).strip()]
    note_unread(path, [BadRow(Location(path, number), "the line has no text.") for number in blank], fixes, "line")
    return texts


def _is_table(path: Path, kind: ExampleKind, layout: FileLayout | None, trained: tuple[str, str] | None) -> bool:
    """Whether a file whose suffix does not say it is a table: by its lines, or because the first one names the column
    of the texts among others."""
    if _has_objects(path):
        raise DataError(f"{path.name} has a JSON object on its first line: give it a name that ends in .jsonl.")
    try:
        sample = sample_table(path)
    except (OSError, EOFError, zlib.error, ValueError, csv.Error):
        return False  # reading the text reports it
    known = {*(PAIRS if kind == "pairs" else LABELED).first, *(name.casefold() for name in (trained or ())[:1])}
    names = [name.casefold() for name in sample.names]
    named = len(names) > 1 and all(map(is_name, filter(None, names))) and not known.isdisjoint(names)
    return named or (layout is not None and layout.kind == "table")


def _has_objects(path: Path) -> bool:
    """Whether the first line is a JSON object."""
    try:
        lines, _ = read_beginning(path, SAMPLE_BYTES)
        return isinstance(json.loads(next(filter(str.strip, lines), "")), dict)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, DataError):
        return False


def _has_tags(path: Path, tags: Collection[str]) -> bool:
    """Whether each of the first lines has a tab, as words and tags do, or ends with a tag of the run, and the name does
    not say that it is a table."""
    try:
        lines = [] if suffix(path) in TABLES else read_beginning(path, SAMPLE_BYTES)[0]
    except (OSError, EOFError, zlib.error):
        return False  # reading the text reports it
    filled = [line for line in lines if line.strip()]
    words = [line.split() for line in filled if not line.startswith((DOCUMENT, "# "))]
    tagged = len(words) > 1 and all(len(fields) > 1 and fields[-1] in tags for fields in words)
    return bool(filled) and (all("\t" in line for line in filled) or tagged)


def _refuse_targets(found: Sequence[str], names: tuple[str, str] | None, path: Path, option: str) -> None:
    """UsageError if what is found there has the name of the targets that training read, and not that of the sources."""
    source, target = (name.casefold() for name in names or ("", ""))
    called = [name.casefold() for name in found]
    if source != target and target in called and source not in called and not {*PAIRS.first} & {*called}:
        raise UsageError(
            f"'{path}' has texts that are called '{target}', and this run translates from '{source}' into '{target}'. "
            f"Give texts in '{source}', or have these read as they are: {option}"
        )


def _from_table(
    path: Path, kind: ExampleKind, column: str | None, fixes: InputFixes, names: tuple[str, str] | None = None
) -> dict[int, Input]:
    """`names`: the columns that training read."""
    pair = PAIRS if kind == "pairs" else LABELED
    table = open_table(path, pair, fixes, (column,) if column else None, keep_blank=True)
    known = [name for name in table.names if names and name.casefold() == names[0].casefold()]
    requested = column or (known[0] if len(known) == 1 else None)
    if kind == "pairs" and names and not requested:
        _refuse_targets(table.names, names, path, f"--column {shlex.quote(names[1])}")
    name = _input_column(table.names, pair, requested, table.header, table.sample, kind == "tagged")
    refuse_words(table.header, name, table.sample(), kind == "tagged")
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
    fixes.skipped.append(columns_note(path.name, {pair.first[0]: name}, table.all_names, table.fields, splits=False))
    note_unread(path, faults, fixes, "row")
    return texts


def _input_column(
    names: Sequence[str],
    pair: ColumnPair,
    requested: str | None,
    header: Location,
    sample: Callable[[], Sequence[Fields]],
    tags: bool,
) -> str:
    """The column of inputs: the requested one, or the one with a known name; DataError if that is unclear."""
    if requested:
        column = match_column(names, requested, header)
        refuse_repeated(names, [column], header)
        return column
    found = known_columns(names, pair)
    candidates = [found[0]] if found else [name for name in names if name.casefold() in pair.first]
    best = [name for name in candidates if name.casefold() == pair.first[0]] or candidates
    if len({*best}) == 1:
        refuse_repeated(names, best, header)
    if len(best) != 1:
        rows = readable_columns(sample())
        texts = sorted(rows[0] if rows else (), key=lambda name: _may_be_text(rows, name), reverse=True)
        if (arrays := keys_of_type(list, sample())) and not any(_may_be_text(rows, name)[0] for name in texts):
            refuse_words(header, arrays[0], sample(), tags)
        if suffix(header.path) not in WITHOUT_HEADER and lacks_header(header.path):
            number = 1 + names.index(texts[0]) if texts and texts[0] in names else 1
            raise DataError(
                f"{header}: the first line looks like data, not like a header ({quote_list(names, 4)}). Give the "
                f"number of the column of texts, such as --column {number}, or write a header above the rows."
            )
        named = [name for name in (*candidates, *texts, *names) if name and len(name) <= MAX_NAME] or ["1"]
        raise DataError(
            f"{header}: the column to read is unclear among {quote_list(names)}. Name it, such as --column "
            f"{shlex.quote(named[0])} (in a table without a header, --column 1 is the first)."
        )
    return best[0]


def _may_be_text(rows: Sequence[Fields], name: str) -> tuple[bool, bool, int]:
    """How much a column looks like texts: several words, no number or identifier, and long."""
    words = 2 * sum(" " in str(row.get(name, "")).strip() for row in rows) > len(rows)
    return words, not is_identifier(name) and not has_numbers(rows, name), length_of(rows, name)
