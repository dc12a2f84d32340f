"""Text that is not the book: the header and the license around an ebook of Project Gutenberg."""

import re

from seqlab.data.files import shorten, split_lines
from seqlab.data.text.corpus import Corpus

MARK = re.compile(r"\*\*\* ?(START|END) OF TH(?:E|IS) PROJECT GUTENBERG EBOOK", re.IGNORECASE)
MAX_MARKS = 2  # that a note quotes


def boilerplate_notes(corpus: Corpus) -> list[str]:
    """The lines between which the ebooks of a text stand, and how much stands outside of them; a newline ends each."""
    marks: list[str] = []
    total = outside = 0
    before, in_book = 0, False  # the characters since the last mark
    for number, line in enumerate(split_lines(corpus.blocks()), 1):
        total, before = total + len(line) + 1, before + len(line) + 1
        if not line.startswith("***") or not (mark := MARK.match(line)):
            continue
        begins = mark[1].upper() == "START"
        first_end = not marks and not begins  # what stands before it is a book without its header
        outside += len(line) + 1 if in_book or first_end else before
        before, in_book = 0, begins
        marks.append(f"line {number} ('{shorten(line, 80)}')")
    if not marks:
        return []
    at_end = 0 if in_book else before
    more = f" and {len(marks) - MAX_MARKS:,} more" if len(marks) > MAX_MARKS else ""
    return [
        f"Project Gutenberg: {outside + at_end:,} of {total:,} characters are no part of a book, as these lines say: "
        f"{', '.join(marks[:MAX_MARKS])}{more}. The last {at_end:,} end the text, where text is held out. Remove them "
        f"to learn and score the book alone"
    ]
