"""What reading corrected or left out, counted by kind and file, so that it can be said with numbers."""

from collections.abc import Mapping
from typing import Any

from seqlab.data.file_names import first_names
from seqlab.wording import counted

UNDECODABLE, EMPTY, BROKEN, REPEATED, CUT, NULS, CRLF, MARKS, ENDS = (
    *("undecodable", "empty", "broken", "repeated", "cut", "nuls", "crlf", "marks", "ends"),
)
# by kind: the sentence, with the number in front of the noun in its forms
SENTENCES = {
    UNDECODABLE: ("replaced", "byte that is not {codec} by U+FFFD", "bytes that are not {codec} by U+FFFD"),
    EMPTY: ("skipped", "empty document", "empty documents"),
    BROKEN: ("skipped", "row that cannot be read", "rows that cannot be read"),
    REPEATED: ("used only the last text of", "row that has several", "rows that have several"),
    CUT: ("used", "packed file only up to where it is damaged", "packed files only up to where they are damaged"),
    NULS: ("removed", "NUL character", "NUL characters"),
    CRLF: ("read", "CRLF line ending as LF", "CRLF line endings as LF"),
    MARKS: ("removed", "byte-order mark", "byte-order marks"),
}


class Faults:
    """Counts by kind and file, each with the place of the first."""

    def __init__(self, counts: Mapping[str, Mapping[str, Any]] | None = None):
        self.counts: dict[str, dict[str, tuple[int, str]]] = {
            kind: {file: (int(number), str(place)) for file, (number, place) in files.items()}
            for kind, files in (counts or {}).items()
        }

    def add(self, kind: str, file: str, place: str, number: int = 1) -> None:
        if number:
            files = self.counts.setdefault(kind, {})
            before, first = files.get(file, (0, place))
            files[file] = (1 if kind == CUT else before + number), first  # several workers find the same end

    def merge(self, other: "Faults") -> None:
        for kind, files in other.counts.items():
            for file, (number, place) in files.items():
                self.add(kind, file, place, number)

    def total(self, kind: str) -> int:
        return sum(number for number, _ in self.counts.get(kind, {}).values())

    def first(self, kind: str) -> str:
        """The file of the first fault of a kind, and its place."""
        file, (_, place) = next(iter(self.counts[kind].items()))
        return f"'{file}', {place}"

    def added_note(self) -> str:
        """What is usual in rows, and changes every count of characters; empty if nothing was added."""
        added = self.total(ENDS)
        return f"added {counted(added, 'newline')} after documents that end without one" if added else ""

    def notes(self) -> list[str]:
        notes = []
        for kind, (verb, noun, nouns) in SENTENCES.items():
            if files := self.counts.get(kind):
                number = counted(self.total(kind), noun, nouns).replace("{codec}", "UTF-8")
                where = f" in {len(files):,} files ({first_names([*files])})" if len(files) > 1 else ""
                notes.append(f"{verb} {number}{where}; the first: {self.first(kind)}")
        return notes
