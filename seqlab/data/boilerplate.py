"""Text that is not the book: the header and the license around an ebook of Project Gutenberg."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from seqlab.data.file_names import shorten
from seqlab.data.files import InputFixes, read_file, split_lines
from seqlab.data.text.corpus import Corpus
from seqlab.wording import counted

MARK = re.compile(r"\*\*\* ?(START|END) OF TH(?:E|IS) PROJECT GUTENBERG EBOOK", re.IGNORECASE)
MAX_MARKS = 2  # that a note quotes


@dataclass
class GutenbergScan:
    """What one file or document has; a newline ends each line."""

    name: str = ""
    marks: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])  # their lines, with the numbers
    total: int = 0
    outside: int = 0
    at_end: int = 0  # of those outside


def boilerplate_notes(corpus: Corpus) -> list[str]:
    """The lines between which the ebooks of a text stand, and how much stands outside of them, file by file."""
    if len(corpus.paths) > 1:
        files = [_scan(split_lines(read_file(path, InputFixes())), f"{path.name}, ") for path in corpus.paths]
    else:
        files = [_scan(split_lines(corpus.blocks()))]
    marks = [f"{file.name}line {number} ({line})" for file in files for number, line in file.marks]
    if not marks:
        return []
    total, outside = (sum(getattr(file, name) for file in files) for name in ("total", "outside"))
    at_end = files[-1].at_end
    last = f" The last {at_end:,} end the text, where text is held out." if at_end else ""
    return [
        f"Project Gutenberg: {outside:,} of {total:,} characters are no part of a book, as these lines say: "
        f"{_first(marks)}.{last} Remove them to learn and score the book alone"
    ]


def scan_document(name: str, text: str) -> GutenbergScan | None:
    """What a document has around its books; None if no line says so."""
    if not MARK.search(text):  # nearly always, and sooner than line by line
        return None
    found = _scan(split_lines([text]), name)
    return found if found.marks else None


def document_boilerplate_notes(found: Sequence[GutenbergScan]) -> list[str]:
    """The same for documents to search, whose lines have no numbers: a title or tags may have stood above them."""
    if not found:
        return []
    marks = [f"{document.name} ({line})" for document in found for _, line in document.marks]
    total, outside = (sum(getattr(document, name) for document in found) for name in ("total", "outside"))
    return [
        f"Project Gutenberg: {outside:,} of the {total:,} characters of {counted(len(found), 'document')} are no part "
        f"of a book, as these lines say: {_first(marks)}. Remove them to keep the book alone"
    ]


def _first(marks: Sequence[str]) -> str:
    more = f" and {len(marks) - MAX_MARKS:,} more" if len(marks) > MAX_MARKS else ""
    return f"{', '.join(marks[:MAX_MARKS])}{more}"


def _scan(lines: Iterable[str], name: str = "") -> GutenbergScan:
    found = GutenbergScan(name)
    before, in_book = 0, False  # the characters since the last mark
    for number, line in enumerate(lines, 1):
        found.total, before = found.total + len(line) + 1, before + len(line) + 1
        if not line.startswith("***") or not (mark := MARK.match(line)):
            continue
        begins = mark[1].upper() == "START"
        first_end = not found.marks and not begins  # what stands before it is a book without its header
        found.outside += len(line) + 1 if in_book or first_end else before
        before, in_book = 0, begins
        found.marks.append((number, f"'{shorten(line, 80)}'"))
    found.at_end = before if found.marks and not in_book else 0
    found.outside += found.at_end
    return found
