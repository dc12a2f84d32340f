"""Text that is not the book: the header and the license around an ebook of Project Gutenberg."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from seqlab.data.file_names import shorten
from seqlab.data.files import InputFixes, read_file, split_lines
from seqlab.data.text.corpus import Corpus

MARK = re.compile(r"\*\*\* ?(START|END) OF TH(?:E|IS) PROJECT GUTENBERG EBOOK", re.IGNORECASE)
MAX_MARKS = 2  # that a note quotes


@dataclass
class GutenbergScan:
    """What one file has; a newline ends each line."""

    marks: list[str] = field(default_factory=list[str])
    total: int = 0
    outside: int = 0
    at_end: int = 0  # of those outside


def boilerplate_notes(corpus: Corpus) -> list[str]:
    """The lines between which the ebooks of a text stand, and how much stands outside of them, file by file."""
    if len(corpus.paths) > 1:
        files = [_scan(split_lines(read_file(path, InputFixes())), f"{path.name}, ") for path in corpus.paths]
    else:
        files = [_scan(split_lines(corpus.blocks()))]
    marks = [mark for file in files for mark in file.marks]
    if not marks:
        return []
    total, outside = (sum(getattr(file, name) for file in files) for name in ("total", "outside"))
    at_end = files[-1].at_end
    more = f" and {len(marks) - MAX_MARKS:,} more" if len(marks) > MAX_MARKS else ""
    last = f" The last {at_end:,} end the text, where text is held out." if at_end else ""
    return [
        f"Project Gutenberg: {outside:,} of {total:,} characters are no part of a book, as these lines say: "
        f"{', '.join(marks[:MAX_MARKS])}{more}.{last} Remove them to learn "
        f"and score the book alone"
    ]


def _scan(lines: Iterable[str], name: str = "") -> GutenbergScan:
    found = GutenbergScan()
    before, in_book = 0, False  # the characters since the last mark
    for number, line in enumerate(lines, 1):
        found.total, before = found.total + len(line) + 1, before + len(line) + 1
        if not line.startswith("***") or not (mark := MARK.match(line)):
            continue
        begins = mark[1].upper() == "START"
        first_end = not found.marks and not begins  # what stands before it is a book without its header
        found.outside += len(line) + 1 if in_book or first_end else before
        before, in_book = 0, begins
        found.marks.append(f"{name}line {number} ('{shorten(line, 80)}')")
    found.at_end = before if found.marks and not in_book else 0
    found.outside += found.at_end
    return found
