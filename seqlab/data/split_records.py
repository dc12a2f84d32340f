"""Tables that are read line by line: their headers become documents, and records with line breaks several."""

import csv
import shlex
import zlib
from pathlib import Path

from seqlab.data.examples.delimiters import detect_delimiter, usual_delimiter
from seqlab.data.examples.lines import JSON_LINES, TEXT_TABLES, BadRow, suffix
from seqlab.data.examples.records import content_records
from seqlab.data.examples.table_sample import SAMPLE_BYTES, TableSample, sample_table
from seqlab.data.files import InputFixes, read_beginning
from seqlab.data.new_files import new_file
from seqlab.data.text.split import SplitText
from seqlab.data.text_columns import chosen_text_column, text_keys
from seqlab.errors import DataError
from seqlab.wording import counted


def split_record_notes(text: SplitText) -> list[str]:
    """For the log, if lines of tables are documents: what of them is no text, and how to get the texts."""
    paths = text.corpus.paths if text.by_lines else ()
    return [note for path in paths if suffix(path) in {*TEXT_TABLES} - {*JSON_LINES} for note in _notes(path)]


def _notes(path: Path) -> list[str]:
    try:
        sample = sample_table(path)
        records, _ = content_records(path, InputFixes(), keep_blank=False)
        delimiter, _, _ = detect_delimiter(read_beginning(path, SAMPLE_BYTES)[0], usual_delimiter(path))
    except (OSError, EOFError, zlib.error, ValueError, csv.Error, DataError):
        return []  # it is no table, and its lines are a text
    read = [record[1] for record in records if not isinstance(record, BadRow)]
    # a line that has nothing but a quote or a delimiter is no empty line, which would be skipped
    lines = [sum(map(bool, map(str.strip, '","'.join([*fields, ""]).split("\n")))) for fields in read]
    broken = [number for number, fields in zip(lines, read, strict=True) if any("\n" in field for field in fields)]
    several = len(broken)
    if not several and not sample.header:
        return []
    found = ["its header is one of them"] if sample.header else []
    if several:
        are = "record has" if several == 1 else "records have"
        found.append(f"{several:,} {are} line breaks within cells and become {counted(sum(broken), 'document')}")
    return [f"each line of {path.name} is a document: {', and '.join(found)}{_advice(path, sample, delimiter)}"]


def _advice(path: Path, sample: TableSample, delimiter: str) -> str:
    keys = text_keys(sample.rows)
    name = chosen_text_column(keys) or next(iter(keys), None)
    if name is None:
        return ""
    place = sample.names.index(name) if sample.header else int(name) - 1
    program = (
        f"import csv, sys; sys.stdin.reconfigure(encoding='utf-8-sig'); rows = csv.reader(sys.stdin, "
        f"delimiter={delimiter!r}); [print(*row[{place}].split()) for row in [*rows][{int(sample.header)}:] "
        f"if len(row) > {place}]"
    )
    given = shlex.quote(str(path))
    read = f"gzip -dc {given} | " if path.suffix == ".gz" else ""
    source = "" if read else f" < {given}"
    command = f'{read}python3 -c "{program}"{source} > {new_file(".txt")}'
    return f". To get the texts of column {place + 1}, one on each line: {command}"
