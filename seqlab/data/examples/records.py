"""The records of a table of separated fields: delimiters.py finds what separates them, quoting.py whether fields of TSV
are in quotes, drawn_tables.py what a program drew around them."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.data.drawn_tables import drawn_table
from seqlab.data.examples.csv_records import Record, read_csv
from seqlab.data.examples.delimiters import DELIMITERS, detect_delimiter, usual_delimiter
from seqlab.data.examples.line_ends import refuse_joined_rows
from seqlab.data.examples.lines import COMMENTS, WITHOUT_HEADER, BadRow, Location, numbered_lines, quote_list, suffix
from seqlab.data.examples.quoting import read_tabbed
from seqlab.data.examples.swallowed import swallowed_rows
from seqlab.data.examples.title_lines import header_below
from seqlab.data.file_layout import SAMPLE_BYTES
from seqlab.data.files import InputFixes, read_beginning
from seqlab.data.text.forms import form_of_text
from seqlab.errors import DataError
from seqlab.wording import counted

DRAWN = "rules and row counts, which a program drew around the table"
OUTSIDE = "text above or below a drawn table"
BAR = "|"
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", BAR: "vertical bar"}


def refuse_other_line(names: Sequence[str], known: Sequence[str], header: Location, named: bool) -> None:
    """DataError if the first line is no header: the file is a dump, or a line below looks like one, unless the user
    `named` the columns; or it has as many fields as the header of training, and none of the `known` names in that."""
    if suffix(header.path) in WITHOUT_HEADER:
        return
    if not named and (form := form_of_text(header.path)) and form.is_dump:
        raise DataError(f"'{header.path}' looks like {form.looks_like}. {form.advice}")
    if not named and (below := header_below(header.path, read_beginning(header.path, SAMPLE_BYTES)[0])):
        raise DataError(f"{header}: {below}")
    same = {name.casefold() for name in names} & {name.casefold() for name in known}
    if len(names) != len(known) or same:
        return
    line = ("," if usual_delimiter(header.path) == "," else "<TAB>").join(known)
    raise DataError(
        f"{header}: this line names none of the columns of training, which has the header {line}: put that on top of "
        f"{header.path.name} if it has none. There is {quote_list(names, 10)}."
    )


class Content(NamedTuple):
    """The records of a table that have content, and a question about one with too many fields."""

    records: list[Record | BadRow]
    too_many: str


def content_records(path: Path, fixes: InputFixes, keep_blank: bool) -> Content:
    """The records from the header on that have content; rows of empty cells are counted or kept, and blank lines are
    counted. In a table of one column, a blank line is such a row."""
    lines = [line for _, line in numbered_lines(path, fixes)]
    if table := drawn_table(lines):
        fixes.passed_over.update([DRAWN] * len(table.drawn) + [OUTSIDE] * len([*table.titles, *table.below]))
        fixes.delimiters[path.name] = DELIMITERS[BAR]
        rows: list[Record | BadRow] = [(Location(path, place + 1), cells) for place, cells in table.rows.items()]
        question = r"Is there a bar in a text? Write it as \|."
        return Content(_with_content(_without_padding(path, rows, fixes), fixes, keep_blank), question)
    delimiter, named, comments = detect_delimiter(lines, usual_delimiter(path))
    for place in (*comments, *(() if named is None else (named,))):
        lines[place] = ""  # blank, so that the others keep their numbers
    fixes.passed_over.update([COMMENTS] * len(comments))
    if named is not None:
        fixes.delimiters[path.name] = f"{DELIMITERS.get(delimiter, repr(delimiter))}, as its first line says"
    elif delimiter != usual_delimiter(path):
        fixes.delimiters[path.name] = DELIMITERS[delimiter]
    refuse_joined_rows(path, lines, delimiter)
    skip = math.ceil(fixes.skip_limit * len(lines))
    question = f"Is there a {DELIMITER_NAMES.get(delimiter, delimiter)} outside quotes?"
    if delimiter == "\t" and suffix(path) != ".csv":
        records, *notes = read_tabbed(path, lines, skip)
        question = "Is there a tab in a text?"
    else:
        records, *notes = read_csv(path, lines, delimiter, skip)
    fixes.remarks += [note for note in notes if note]
    fixes.remarks += swallowed_rows(path, records, delimiter)
    if delimiter == BAR:
        records = _without_padding(path, records, fixes)
    return Content(_with_content(records, fixes, keep_blank), question)


def _without_padding(path: Path, records: Sequence[Record | BadRow], fixes: InputFixes) -> list[Record | BadRow]:
    """Records without the spaces around their cells, which a note counts."""
    rows = [record[1] for record in records if not isinstance(record, BadRow)]
    padded = sum(field != field.strip() for fields in rows for field in fields)
    if not padded:
        return [*records]
    cells = counted(padded, "cell")
    fixes.remarks.append(f"removed the spaces around {cells} of {path.name}, between its bars")
    return [
        record if isinstance(record, BadRow) else (record[0], [field.strip() for field in record[1]])
        for record in records
    ]


def _with_content(records: Sequence[Record | BadRow], fixes: InputFixes, keep_blank: bool) -> list[Record | BadRow]:
    kept: list[Record | BadRow] = []
    width = blank_lines = 0  # width: of the header; blank lines: since the last record
    for record in records:
        if isinstance(record, BadRow) or any(map(str.strip, record[1])):
            fixes.blank_rows += blank_lines if width else 0
            kept.append(record)
            width, blank_lines = width or (0 if isinstance(record, BadRow) else len(record[1])), 0
        elif keep_blank and (width == 1 or (width and len(record[1]) > 1)):
            kept.append((record[0], record[1] or [""]))
        elif len(record[1]) > 1:
            fixes.blank_rows += 1
        else:
            blank_lines += 1
    return kept
