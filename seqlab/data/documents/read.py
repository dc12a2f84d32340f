"""Documents from files: a folder, text and Markdown files, pages, notebooks, JSON lines and tables, one after another.

A text file is one document; its id is its path, its title its first heading or line. Every row of a table or of JSON
lines is a document, and so is every e-mail of a mailbox. Files that are no text are left out, those that cannot be read
are skipped up to a limit; both are noted in the `fixes`. The title of a document without a text is read as its text.
"""

import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.data.boilerplate import scan_document
from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes, Unusable
from seqlab.data.documents.markup import (
    MAIL,
    MAILBOX,
    NOTEBOOK,
    PAGES,
    Mail,
    has_base64,
    mails_of,
    notebook_text,
    page_document,
    read_mail,
)
from seqlab.data.documents.rows import FIELDS, row_documents
from seqlab.data.documents.text_files import text_document
from seqlab.data.examples.lines import MAX_FAULTS, TEXT_TABLES, BadRow, quote_list
from seqlab.data.examples.lines import suffix as suffix_of
from seqlab.data.file_names import first_names, shorten
from seqlab.data.files import existing_path, read_file
from seqlab.data.folders import files_below, note_links
from seqlab.data.foreign import Foreign
from seqlab.data.readable_files import EMPTY, FAULTS, readable_codec
from seqlab.data.text.forms import form_of_text
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.wording import counted, ended

CORRECT = "Correct them."
SAME_ID = "Give each an id of its own; without a column of ids, the file and line of a row are its id."
COLLECTION = ("corpus.jsonl", "corpus.jsonl.gz")  # the documents of a folder in the layout of BEIR


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
    files = _all_files([str(source) for source in sources], fixes)
    seen: dict[bytes, tuple[int, int]] = {}  # of an id: number of the file, and line
    texts: dict[bytes, str] = {}
    for number, file in enumerate(files):
        try:
            found = _documents(file, fixes, columns or {})
        except DataError as error:
            if not file.found:
                raise
            fixes.left_out[str(file.path)] = _why_left_out(error)
            continue
        for document in _distinct(found, number, [one.path for one in files], seen, fixes):
            document = _with_text(document, fixes)
            content = _content(document)
            fixes.ebooks += [ebook] if (ebook := scan_document(document.id, content)) else []
            key = _digest(content.strip())
            if (first := texts.setdefault(key, document.id)) != document.id:
                fixes.first_equal = fixes.first_equal if fixes.equal else (first, document.id)
                fixes.equal += 1
            yield document
    names = ", ".join(f"'{source}'" for source in sources)
    if not seen:
        said = "".join(f" {ended(_capitalized(note))}" for note in fixes.notes())
        raise DataError(f"there is no document in {names}: expected text, Markdown, JSON lines or a table.{said}")
    if missing := [column for column in (columns or {}).values() if column not in fixes.named_columns]:
        raise DataError(f"no table in {names} has a column {quote_list(missing)}: correct --column, or leave it out.")


def _why_left_out(error: DataError) -> str:
    return error.reason if isinstance(error, Foreign | Unusable) else "no table of documents"


def _with_text(document: Document, fixes: DocumentFixes) -> Document:
    """The document; one that has nothing but a title has it as its text."""
    fixes.documents += 1
    if document.text.strip():
        return document
    fixes.first_without_text = fixes.first_without_text or document.id
    fixes.without_text += 1
    return Document(document.id, document.title)


def _content(document: Document) -> str:
    """Title and text; the name of the file, which is the title of a file without one, says nothing."""
    return document.text if document.title == Path(document.id).name else document.with_title


def _capitalized(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}" if note.split()[0].isalpha() else note  # the name of a file stays as it is


# --- files ------------------------------------------------------------------------------------------------------------


def _all_files(sources: Sequence[str], fixes: DocumentFixes) -> list[_File]:
    """The files of all sources; one that several of them have is read once."""
    files: dict[str, _File] = {}
    repeated: list[str] = []
    for file in (file for source in sources for file in _files(source, fixes)):
        place = os.path.abspath(file.path)  # noqa: PTH100  (a link to a file is another document)
        if before := files.get(place):
            repeated.append(str(before.path))
            file = before._replace(found=before.found and file.found)
        files[place] = file
    if repeated:
        fixes.remarks.append(f"read {counted(len(repeated), 'file')} once that is named twice: {first_names(repeated)}")
    return list(files.values())


def _files(source: str, fixes: DocumentFixes) -> list[_File]:
    """The files of a source; of a folder those that are text, without what seqlab wrote there."""
    path = existing_path(source)
    if path is None:
        raise MissingInput(f"there is no file or folder '{shorten(source)}'. Name what is to be read.")
    if not path.is_dir():
        codec, why = readable_codec(path, _declares(path))
        if codec is None and why == EMPTY:
            raise DataError(f"'{path}' is empty: it has no document.")
        return [_File(path, codec)]  # if none fits, reading says where and why
    for name in COLLECTION:
        if (path / name).is_file():
            fixes.remarks.append(f"'{path}' has {name}: its documents are read, and nothing else of the folder")
            return _files(str(path / name), fixes)
    files = files_below(path, fixes)
    readable: list[_File] = []
    for file in files:
        codec, why = readable_codec(file, _declares(file))
        if codec is not None:
            readable.append(_File(file, codec, found=True))
        elif why in FAULTS:
            fixes.unreadable[str(file)] = why
        else:
            fixes.left_out[str(file)] = why
    note_links([file.path for file in readable], fixes)
    allowed = math.ceil(fixes.skip_limit * len(files))
    if len(fixes.unreadable) > allowed:
        names = first_names([*fixes.unreadable])
        raise DataError(
            f"{len(fixes.unreadable):,} of the {counted(len(files), 'file')} of '{path}' cannot be read, and at most "
            f"{allowed:,} may be skipped: {names} ({next(iter(fixes.unreadable.values()))}). Repair or remove them."
        )
    return readable


def _declares(path: Path) -> bool:
    return suffix_of(path) in (*PAGES, MAIL)


def _documents(
    file: _File, fixes: DocumentFixes, columns: Mapping[str, str]
) -> Iterator[tuple[int, Document | BadRow]]:
    """With the line on which each begins."""
    suffix = suffix_of(file.path)
    if suffix in TEXT_TABLES:
        return row_documents(file.path, fixes, columns, required=not file.found)
    name, content = file.path.as_posix(), "".join(read_file(file.path, fixes, file.codec))
    if suffix in PAGES:
        return _one(page_document(name, content))
    if suffix == MAIL:
        mail = read_mail(name, content)
        _note_mails(name, [mail], fixes)
        return _one(mail.document)
    if suffix == MAILBOX and (mails := mails_of(content)):
        found = {line: read_mail(f"{name}:{line}", mail) for line, mail in mails.items()}
        _note_mails(name, [*found.values()], fixes)
        return ((line, mail.document) for line, mail in found.items())
    if suffix == NOTEBOOK:
        content, outputs = notebook_text(name, content)
        fixes.outputs |= {name: outputs} if outputs else {}
    elif has_base64(content):
        fixes.encoded.append(name)
    elif (form := form_of_text(file.path)) and not form.is_table:  # tables are usual in Markdown
        fixes.forms.setdefault(form.looks_like, {})[name] = form.advice
    return _one(text_document(name, content))


def _note_mails(name: str, mails: Sequence[Mail], fixes: DocumentFixes) -> None:
    others = sum(mail.parts for mail in mails)
    fixes.mail_parts |= {name: others} if others else {}
    for mail in mails:
        fixes.mail_fields.update(mail.fields)
    fixes.encoded += [name] if any(has_base64(mail.document.text) for mail in mails) else []


def _one(document: Document) -> Iterator[tuple[int, Document]]:
    """The document of a file; Unusable if the file has nothing but whitespace and markup."""
    if not _content(document).strip():
        raise Unusable(f"'{document.id}' is empty: it has no document.", "empty")
    return iter([(1, document)])


def _distinct(
    found: Iterator[tuple[int, Document | BadRow]],
    number: int,
    paths: Sequence[Path],
    seen: dict[bytes, tuple[int, int]],
    fixes: DocumentFixes,
) -> Iterator[Document]:
    """The documents of a file whose ids are new; the others and broken rows are skipped up to the limit."""
    faults: list[str] = []
    total = repeated = 0
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
            repeated += 1
            file, row = seen[key]
            where = "" if file == number else f" of '{paths[file]}'"
            faults.append(f"line {line}: the id '{shorten(item.id, 40)}' is that of line {row}{where}, too")
    if faults:
        _note_faults(faults, repeated, total, paths[number], fixes)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _note_faults(faults: Sequence[str], repeated: int, total: int, path: Path, fixes: DocumentFixes) -> None:
    allowed = math.ceil(fixes.skip_limit * total)
    first = "; ".join(faults[:MAX_FAULTS])
    of_all = f"{len(faults):,} of the {counted(total, *fixes.unit)} of '{path}'"
    if len(faults) > allowed or len(faults) == total:
        limit = f"at most {allowed:,} may be skipped" if len(faults) > allowed else "no other is left"
        raise DataError(f"{of_all} cannot be used, and {limit}: {ended(first)} {SAME_ID if repeated else CORRECT}")
    fixes.skipped.append(f"skipped {of_all} ({first})")
