"""Documents from files: a folder, text and Markdown files, pages, notebooks, JSON lines and tables, one after another.

A text file is one document; its id is its path, its title its first heading or line. Every row of a table or of JSON
lines is a document. Files that are no text are left out, those that cannot be read are skipped up to a limit; both are
noted in the `fixes`.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.markup import (
    BASE64,
    MAIL,
    NOTEBOOK,
    PAGES,
    mail_document,
    notebook_text,
    page_document,
)
from seqlab.data.examples.columns import LABELED
from seqlab.data.examples.json_lines import TableRow, parse_object, type_name
from seqlab.data.examples.lines import JSON_LINES, MAX_FAULTS, TABLES, BadRow, Location, numbered_lines, quote_list
from seqlab.data.examples.lines import suffix as suffix_of
from seqlab.data.examples.tables import KEYED_OBJECTS, open_table
from seqlab.data.files import existing_path, first_names, read_file, shorten
from seqlab.data.folders import files_below, note_links
from seqlab.data.text.corpus import readable_codec
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.wording import counted

FIELDS = {  # the names of the columns that are read, the first that a table has
    "id": ("_id", "id", "doc_id", "docid"),
    "title": ("title", "heading", "name"),
    "text": ("text", "body", "contents", "content", "abstract"),
}
LAYOUT_COLUMNS = ("metadata",)  # of collections in the layout of BEIR, which nobody expects to be searched
LONGEST_TITLE = 120  # characters of a first line that is taken for a title
COLLECTION = ("corpus.jsonl", "corpus.jsonl.gz")  # the documents of a folder in the layout of BEIR
HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
RULE = re.compile(r"([=\-~^\"'`#*+])\1{2,}\s*$")  # above or below a heading


class _File(NamedTuple):
    path: Path
    codec: str | None
    found: bool = False  # in a folder, where other files may be as well


def read_documents(
    sources: Iterable[str | Path], fixes: DocumentFixes | None = None, columns: Mapping[str, str] | None = None
) -> Iterator[Document]:
    """The documents of files and folders, in a fixed order, one at a time.

    columns: the names of the columns "id", "title" and "text" of tables and JSON lines, if they are unusual. DataError
    if nothing can be read, or if more of it is broken than `fixes.skip_limit` allows."""
    fixes = DocumentFixes() if fixes is None else fixes
    if unknown := {*(columns or {})} - {*FIELDS}:
        raise UsageError(f"documents have no '{sorted(unknown)[0]}': name columns of {', '.join(FIELDS)}.")
    files = list(chain.from_iterable(_files(str(source), fixes) for source in sources))
    seen: dict[bytes, tuple[int, int]] = {}  # of an id: number of the file, and line
    texts: dict[bytes, str] = {}
    for number, file in enumerate(files):
        try:
            found = _documents(file, fixes, columns or {})
        except DataError:
            if not file.found:
                raise
            fixes.left_out[str(file.path)] = "no text, and no table of documents"
            continue
        for document in _distinct(found, number, [one.path for one in files], seen, fixes):
            key = _digest(document.with_title)
            if (first := texts.setdefault(key, document.id)) != document.id:
                fixes.first_equal = fixes.first_equal if fixes.equal else (first, document.id)
                fixes.equal += 1
            yield document
    if not seen:
        found = "".join(f" {note[0].upper()}{note[1:]}." for note in fixes.notes())
        names = ", ".join(f"'{source}'" for source in sources)
        raise DataError(f"there is no document in {names}: expected text, Markdown, JSON lines or a table.{found}")


# --- files ------------------------------------------------------------------------------------------------------------


def _files(source: str, fixes: DocumentFixes) -> list[_File]:
    """The files of a source; of a folder those that are text, without what seqlab wrote there."""
    path = existing_path(source)
    if path is None:
        raise MissingInput(f"there is no file or folder '{shorten(source)}'. Name what is to be read.")
    if not path.is_dir():
        codec, why = readable_codec(path)
        if codec is None and why == "empty":
            raise DataError(f"'{path}' is empty: it has no document.")
        return [_File(path, codec)]  # if none fits, reading says where and why
    for name in COLLECTION:
        if (path / name).is_file():
            fixes.remarks.append(f"'{path}' has {name}: its documents are read, and nothing else of the folder")
            return _files(str(path / name), fixes)
    files = files_below(path, fixes)
    readable: list[_File] = []
    for file in files:
        codec, why = readable_codec(file)
        if codec is not None:
            readable.append(_File(file, codec, found=True))
        elif why in ("empty", "binary"):
            fixes.left_out[str(file)] = why
        else:
            fixes.unreadable[str(file)] = why
    note_links([file.path for file in readable], fixes)
    allowed = math.ceil(fixes.skip_limit * len(files))
    if len(fixes.unreadable) > allowed:
        names = first_names([*fixes.unreadable])
        raise DataError(
            f"{len(fixes.unreadable):,} of the {counted(len(files), 'file')} of '{path}' cannot be read, and at most "
            f"{allowed:,} may be skipped: {names} ({next(iter(fixes.unreadable.values()))}). Repair or remove them."
        )
    return readable


def _documents(
    file: _File, fixes: DocumentFixes, columns: Mapping[str, str]
) -> Iterator[tuple[int, Document | BadRow]]:
    """With the line on which each begins."""
    suffix = suffix_of(file.path)
    if suffix in TABLES:
        return _rows(file.path, fixes, columns)
    name, content = file.path.as_posix(), "".join(read_file(file.path, fixes, file.codec))
    if suffix in PAGES:
        return iter([(1, page_document(name, content))])
    if suffix == MAIL:
        document, others = mail_document(name, content)
        fixes.mail_parts |= {name: others} if others else {}
        return iter([(1, document)])
    if suffix == NOTEBOOK:
        content, outputs = notebook_text(name, content)
        fixes.outputs |= {name: outputs} if outputs else {}
    elif BASE64.search(content):
        fixes.encoded.append(name)
    return iter([(1, text_document(name, content))])


def _distinct(
    found: Iterator[tuple[int, Document | BadRow]],
    number: int,
    paths: Sequence[Path],
    seen: dict[bytes, tuple[int, int]],
    fixes: DocumentFixes,
) -> Iterator[Document]:
    """The documents of a file whose ids are new; the others and broken rows are skipped up to the limit."""
    faults: list[str] = []
    total = 0
    for line, item in found:
        total += 1
        if isinstance(item, BadRow):
            faults.append(f"line {line}: {item.reason.rstrip('.')}")
            continue
        key = _digest(item.id)
        if key not in seen:
            seen[key] = (number, line)
            yield item
        else:
            file, row = seen[key]
            where = "" if file == number else f" of '{paths[file]}'"
            faults.append(f"line {line}: the id '{shorten(item.id, 40)}' is that of line {row}{where}, too")
    if faults:
        _note_faults(faults, total, paths[number], fixes)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _note_faults(faults: Sequence[str], total: int, path: Path, fixes: DocumentFixes) -> None:
    allowed = math.ceil(fixes.skip_limit * total)
    first = "; ".join(faults[:MAX_FAULTS])
    of_all = f"{len(faults):,} of the {counted(total, 'document')} of '{path}'"
    if len(faults) > allowed or len(faults) == total:
        raise DataError(f"{of_all} cannot be used, and at most {allowed:,} may be skipped: {first}. Correct them.")
    fixes.skipped.append(f"skipped {of_all} ({first})")


# --- one document -----------------------------------------------------------------------------------------------------


def text_document(name: str, text: str) -> Document:
    """A text file: its title is the first heading, else a short first line, else the name; the text is what follows."""
    lines = text.split("\n")
    filled = [place for place, line in enumerate(lines) if line.strip()][:3]
    title, end = "", 0
    if filled:
        place = filled[1] if RULE.match(lines[filled[0]]) and len(filled) > 1 else filled[0]
        heading = HEADING.match(lines[place])
        title = (heading[1] if heading else lines[place]).strip()
        end = place + 1
        if end < len(lines) and RULE.match(lines[end]):
            end += 1
    rest = "\n".join(lines[end:]).strip("\n")
    if not title or len(title) > LONGEST_TITLE or not rest.strip():
        return Document(name, text.strip("\n"), Path(name).name)
    return Document(name, rest, title)


def _rows(path: Path, fixes: DocumentFixes, columns: Mapping[str, str]) -> Iterator[tuple[int, Document | BadRow]]:
    """The rows of a table; JSON lines are read one by one, so that memory is bounded for a file of any size."""
    if suffix_of(path) in JSON_LINES:
        lines = ((Location(path, number), line) for number, line in numbered_lines(path, fixes) if line.strip())
        rows: Iterator[TableRow | BadRow] = (parse_object(location, line) for location, line in lines)
        first = [row for _, row in zip(range(KEYED_OBJECTS), rows, strict=False)]
        if not first:
            raise DataError(f"'{path}' is empty. Expected one JSON object per line.")
        rows = chain(first, rows)
        names = list(dict.fromkeys(key for row in first if isinstance(row, TableRow) for key in row.fields))
    else:
        table = open_table(path, LABELED, fixes)
        rows, names = iter(table.all_rows()), table.names
    found = _columns(path, names, columns)
    if unused := tuple(name for name in names if name not in {*found.values(), *LAYOUT_COLUMNS}):
        fixes.unused.setdefault(unused, []).append(str(path))
    return ((row.location.line, row if isinstance(row, BadRow) else _row(row, found)) for row in rows)


def _columns(path: Path, names: Sequence[str], requested: Mapping[str, str]) -> dict[str, str]:
    """The column of each field, as the file names it; the text is required."""
    found: dict[str, str] = {}
    for name, known in FIELDS.items():
        wanted = requested.get(name)
        if wanted is not None and wanted not in names:
            raise DataError(f"'{path}' has no column '{wanted}': there is {quote_list(names) or 'none'}.")
        column = wanted or next((one for one in known if one in names), None)
        if column is not None:
            found[name] = column
    if "text" not in found:
        raise DataError(
            f"'{path}' has no column of texts: expected one named {', '.join(FIELDS['text'])}, there is "
            f"{quote_list(names) or 'none'}. Name it: --column text=NAME"
        )
    return found


def _row(row: TableRow, columns: Mapping[str, str]) -> Document | BadRow:
    try:
        text, title = _string(row, columns["text"]), _string(row, columns.get("title"))
        name = _string(row, columns.get("id")) or f"{row.location.path.as_posix()}:{row.location.line}"
        (text + title + name).encode()
    except UnicodeEncodeError:
        return BadRow(row.location, "it contains half of a surrogate pair, which is not a character.")
    except BadRow as fault:
        return fault
    if not text.strip() and not title.strip():
        return BadRow(row.location, "it has neither text nor title.")
    return Document(name, text, title.strip()) if text.strip() else Document(name, title.strip())


def _string(row: TableRow, name: str | None) -> str:
    value: Any = "" if name is None else row.fields.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise BadRow(row.location, f"'{name}' is {type_name(value)}, expected a text.")
    return value
