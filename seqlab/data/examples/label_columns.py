"""Which columns of a table may have labels, where its header does not say it: all are named, for one is read."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.data.examples.columns import may_be_labels
from seqlab.data.examples.delimiters import detect_delimiter, usual_delimiter
from seqlab.data.examples.lines import JSON_LINES, quote_list, suffix
from seqlab.data.examples.no_labels import why_no_labels
from seqlab.data.examples.split_column import TRUTH
from seqlab.data.file_layout import SAMPLE_BYTES
from seqlab.data.files import read_beginning
from seqlab.data.new_files import new_file

FEWEST_COLUMNS = 2
NAMED = 10  # columns
Rows = Sequence[Mapping[str, Any]]


def label_columns_note(path: Path, rows: Rows, columns: tuple[str, str] | None) -> str:
    """The columns besides the text that may have labels, if there are several; of 0 and 1, how to write them in one.

    `columns` are those of texts and labels that are suggested, if any."""
    if columns is None:
        return ""
    text, _ = columns
    names = [name for name in rows[0] if name != text]
    flags = [name for name in names if {_value(row, name).casefold() for row in rows} <= TRUTH.keys()]
    if len(flags) >= FEWEST_COLUMNS:
        return _one_hot(path, rows, text, flags)
    found = {
        name: len({_value(row, name) for row in rows})
        for name in names
        if may_be_labels(rows, name) and why_no_labels(rows, name) is None
    }
    if len(found) < FEWEST_COLUMNS:
        return ""
    return f". Columns whose values repeat, with the number of different ones: {quote_list([*found], NAMED, found)}"


def _one_hot(path: Path, rows: Rows, text: str, flags: Sequence[str]) -> str:
    several = sum(sum(TRUTH[_value(row, name).casefold()] for name in flags) > 1 for row in rows)
    said = (
        f". {len(flags):,} columns have 0 or 1, {quote_list(flags, NAMED)}, and a text has one label: read one of them"
    )
    what = "the name of the column with 1"
    if several:
        what = f"{what}, or of all of them ({several:,} of the first {len(rows):,} rows have several)"
    return f"{said}, or write {what} as the label: {_command(path, text, flags)}"


def _command(path: Path, text: str, flags: Sequence[str]) -> str:
    names, column = (json.dumps(given, ensure_ascii=False) for given in (flags, text))
    if suffix(path) in JSON_LINES:
        program = (
            f'. as $r | ([{names}[] | select($r[.] == 1 or $r[.] == true)] | join("+")) as $l | '
            f'{{text: .[{column}], label: (if $l == "" then "none" else $l end)}}'
        )
        return _on_file(path, f"jq -c {shlex.quote(program)}", ".jsonl")
    delimiter = detect_delimiter(read_beginning(path, SAMPLE_BYTES)[0], usual_delimiter(path)).delimiter
    program = (
        f'import csv, sys; w = csv.writer(sys.stdout); w.writerow(["text", "label"]); '
        f'[w.writerow([r[{column}], "+".join(n for n in {names} if r[n].strip().lower() in ["1", "1.0", "true", "yes"])'
        f' or "none"]) for r in csv.DictReader(sys.stdin, delimiter={json.dumps(delimiter)})]'
    )
    return _on_file(path, f"python3 -c {shlex.quote(program)}", ".csv")


def _on_file(path: Path, command: str, form: str) -> str:
    source, new = shlex.quote(str(path)), new_file(form)
    return f"gzip -dc {source} | {command} > {new}" if path.suffix == ".gz" else f"{command} < {source} > {new}"


def _value(row: Mapping[str, Any], name: str) -> str:
    return str(row.get(name, "")).strip()
