"""Long documents as overlapping passages: pieces that a model reads well, and that are short enough to be shown."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from seqlab.data.documents.document import Document
from seqlab.errors import UsageError

LENGTH, OVERLAP = 2000, 200  # characters
SPACE = re.compile(r"\s")


@dataclass(frozen=True)
class Passage:
    """A span of a document: the characters from `start` to `end` of its text."""

    document: Document
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]

    @property
    def with_title(self) -> str:
        """What is read for search: every passage is read below the title of its document."""
        return f"{self.document.title}\n{self.text}" if self.document.title else self.text


def default_overlap(length: int) -> int:
    """Of passages whose length is given."""
    return min(OVERLAP, length // 10)


def passages(document: Document, length: int = LENGTH, overlap: int = OVERLAP) -> Iterator[Passage]:
    """Spans of at most `length` characters, each beginning about `overlap` before the end of the one before.

    They begin and end at whitespace, unless a word is longer than a passage. Together they are the whole text."""
    if not 0 <= overlap < length:
        raise UsageError(
            f"passages of {length:,} characters cannot overlap by {overlap:,}: expected 0 <= overlap < length. Give "
            f"a smaller --overlap; by default it is a tenth of --passage, at most {OVERLAP:,}."
        )
    text, start = document.text, 0
    while len(text) - start > length:
        end = _last_space(text, start + max(1, (length + overlap) // 2), start + length)
        yield Passage(document, start, end)
        start = _first_space(text, max(start + 1, end - overlap), end)
    yield Passage(document, start, len(text))


def _last_space(text: str, low: int, high: int) -> int:
    """The place after the last whitespace between two places; the upper one if there is none."""
    return next((place for place in range(high, low, -1) if text[place - 1].isspace()), high)


def _first_space(text: str, low: int, high: int) -> int:
    """The place after the first whitespace between two places; the lower one if there is none."""
    found = SPACE.search(text, low, high)
    return found.end() if found else low
