"""The rows of tables and of JSON lines as documents."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes, Unusable
from seqlab.data.documents.headerless import headerless_advice, requested_positions
from seqlab.data.examples.columns import LABELED
from seqlab.data.examples.json_forms import form_of_file, form_of_line
from seqlab.data.examples.json_lines import TableRow, note_repeated_keys, parse_object, type_name
from seqlab.data.examples.lines import JSON_LINES, BadRow, Location, numbered_lines, quote_list
from seqlab.data.examples.lines import suffix as suffix_of
from seqlab.data.examples.repeated_columns import RENAME, repeated
from seqlab.data.examples.tables import KEYED_OBJECTS, open_table
from seqlab.data.file_layout import SAMPLE_BYTES
from seqlab.data.files import read_beginning
from seqlab.data.nested_json import nested_documents_advice
from seqlab.errors import DataError

FIELDS = {  # the names of the columns that are read, the first that a table has; of ids the first that a row has.
    # They are also known in another case, and with other marks between their words
    "id": ("_id", "id", "doc_id", "docid"),
    "title": ("title", "heading", "name"),
    "text": ("text", "body", "contents", "content", "abstract", "abstract_note"),
}


def row_documents(
    path: Path, fixes: DocumentFixes, columns: Mapping[str, str], required: bool = True
) -> Iterator[tuple[int, Document | BadRow]]:
    """The rows of a table, whose columns may be named; those that are not required are read where there are some.

    JSON lines are read one by one, so that memory is bounded for a file of any size."""
    twice: list[str] = []  # keys of JSON objects
    if suffix_of(path) in JSON_LINES:
        lines = ((Location(path, number), line) for number, line in numbered_lines(path, fixes) if line.strip())
        rows: Iterator[TableRow | BadRow] = (parse_object(location, line, twice) for location, line in lines)
        first = [row for _, row in zip(range(KEYED_OBJECTS), rows, strict=False)]
        if not first:
            raise Unusable(f"'{path}' is empty. Expected one JSON object per line.", "empty")
        _refuse_other_form(path, first, required)
        rows = chain(first, rows)
        sample = [row.fields for row in first if isinstance(row, TableRow)]
        names = list(dict.fromkeys(key for fields in sample for key in fields))
    else:
        usual = [name for usual in (fixes.known_columns or FIELDS).values() for name in usual]
        table = open_table(path, LABELED, fixes, requested_positions(path, columns, usual, required))
        rows, names, sample = iter(table.all_rows()), table.names, table.sample()
    found = _columns(path, names, columns, fixes, required)
    if "text" not in found:
        raise _without_texts(path, names, sample, fixes)
    requested = columns.get("id")
    known = (fixes.known_columns or FIELDS)["id"]
    ids = (requested,) if requested is not None and requested == found.get("id") else (*_known(known, names), *known)
    if said := repeated(names, found.values()):
        raise Unusable(f"'{path}': {said}. {RENAME}", said)
    return _numbered_rows(path, rows, names, found, ids, twice, fixes)


def _numbered_rows(
    path: Path,
    rows: Iterable[TableRow | BadRow],
    names: Sequence[str],
    found: Mapping[str, str],
    ids: Sequence[str],
    twice: Sequence[str],
    fixes: DocumentFixes,
) -> Iterator[tuple[int, Document | BadRow]]:
    """The documents with their lines. Which columns were not read is known at the end: files that were joined may name
    their ids differently."""
    read: Counter[str | None] = Counter()  # documents by the column of their id
    for row in rows:
        if isinstance(row, BadRow):
            yield row.location.line, row
            continue
        column = next((name for name in ids if row.fields.get(name) not in (None, "")), None)
        row = _with_inner_id(row, column, path, fixes)
        document = _row(row, found, column)
        if isinstance(document, Document):
            read[column] += 1
            fixes.read_row(document.text)
        yield row.location.line, document
    note_repeated_keys(path, twice, fixes)
    if read[None] and len(read) > 1:
        fixes.without_id[str(path)] = read[None]
    if unused := tuple(name for name in names if name not in {*found.values(), *read, *fixes.layout_columns}):
        fixes.unused.setdefault(unused, []).append(str(path))


def _refuse_other_form(path: Path, first: Sequence[TableRow | BadRow], required: bool) -> None:
    """Unusable if the file is one JSON value, such as an array of all rows, or if it was asked for and begins with
    something else than objects: a folder may have any JSON."""
    if len(first) > 1 and isinstance(first[0], TableRow):
        return
    form = form_of_file(path)
    if form is None and required and not any(isinstance(row, TableRow) for row in first):
        form = form_of_line(path, read_beginning(path, SAMPLE_BYTES)[0])
    if form is not None:
        reason = form.removeprefix(f"{path.name} is ").replace(str(path), "FILE")  # one for all such files
        raise Unusable(f"'{path}': {form}", reason)


def _columns(
    path: Path, names: Sequence[str], requested: Mapping[str, str], fixes: DocumentFixes, required: bool
) -> dict[str, str]:
    """The column of each field that there is, as the file names it."""
    found: dict[str, str] = {}
    for name, known in (fixes.known_columns or FIELDS).items():
        wanted = requested.get(name)
        if wanted is not None and wanted in names:
            fixes.named_columns.add(wanted)
        elif wanted is not None and not required:
            fixes.own_columns.setdefault(wanted, []).append(str(path))
            wanted = None
        elif wanted is not None:
            raise DataError(f"'{path}' has no column '{wanted}': there is {quote_list(names) or 'none'}.")
        column = wanted or next(iter(_known(known, names)), None)
        if column is not None:
            found[name] = column
    return found


def _known(known: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns with known names, in the order of these. One with the same letters, as "Abstract Note" has those of
    "abstract_note", comes before the next name."""
    letters = [letters_of(name) for name in known]
    found = [name for name in names if letters_of(name) in letters]
    exact = {name: place for place, name in enumerate(known)}
    return sorted(found, key=lambda name: (letters.index(letters_of(name)), exact.get(name, len(known))))


def letters_of(name: str) -> str:
    """The name of a column without its case and marks."""
    return re.sub(r"[\W_]", "", name.casefold())


def _without_texts(
    path: Path, names: Sequence[str], sample: Sequence[Mapping[str, Any]], fixes: DocumentFixes
) -> Unusable:
    if nested := nested_documents_advice(sample, str(path)):
        reason = nested.replace(shlex.quote(str(path)), "FILE")  # one for all such files
        return Unusable(f"'{path}' has no column of texts, there is {quote_list(names)}. {nested}", reason)
    fields = fixes.known_columns or FIELDS
    known, first = fields["text"], {field: usual[0] for field, usual in fields.items()}
    advice = "" if suffix_of(path) in JSON_LINES else headerless_advice(path, fixes.can_name_columns, first)
    end = "" if fixes.to_name_text.endswith(".") else "."
    return Unusable(
        f"'{path}' has no column of texts: expected one named {', '.join(known)}, there is "
        f"{quote_list(names) or 'none'}. {fixes.to_name_text}{advice and f'{end} {advice}'}",
        f"a table without a column of texts{'; --column text=NAME names one' if fixes.can_name_columns else ''}",
    )


def _row(row: TableRow, columns: Mapping[str, str], id_column: str | None) -> Document | BadRow:
    try:
        text, title = _string(row, columns["text"]), _string(row, columns.get("title"))
        name = _string(row, id_column) or f"{row.location.path.as_posix()}:{row.location.line}"
        (text + title + name).encode()
    except UnicodeEncodeError:
        return BadRow(row.location, "it contains half of a surrogate pair, which is not a character.")
    except BadRow as fault:
        return fault
    if not text.strip() and not title.strip():
        return BadRow(row.location, f"it has {'neither text nor title' if 'title' in columns else 'no text'}.")
    return Document(name, text, title.strip())


def _with_inner_id(row: TableRow, column: str | None, path: Path, fixes: DocumentFixes) -> TableRow:
    """The row with the value of an id that is an object, as MongoDB exports it: {"$oid": "5f1e"}."""
    value: Any = row.fields.get(column or "")
    if (
        column is None
        or not isinstance(value, dict)
        or len(value) != 1
        or not (key := next(iter(value))).startswith("$")
    ):
        return row
    fixes.inner_ids[str(path)] = fixes.inner_ids.get(str(path), 0) + 1
    fixes.inner_keys[key] = None
    return replace(row, fields={**row.fields, column: value[key]})


def _string(row: TableRow, name: str | None) -> str:
    value: Any = "" if name is None else row.fields.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise BadRow(row.location, f"'{name}' is {type_name(value)}, expected a text.")
    return value
