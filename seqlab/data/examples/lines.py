"""The lines of a file with their numbers, and examples that know where they stand.

Whatever is wrong with an example is said with its file and line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from seqlab.data.examples.example import Example
from seqlab.data.files import Oddities, read_file

E = TypeVar("E", bound=Example, covariant=True)
JSON_LINES = (".jsonl", ".ndjson", ".json")
TABLES = (".tsv", ".csv", *JSON_LINES)
CONLLU = ".conllu"
COLUMNS = (".conll", ".bio", ".iob", ".iob2")


@dataclass(frozen=True)
class Place:
    """Where something stands, as error messages begin."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"'{self.path}', line {self.line}"


@dataclass(frozen=True)
class Placed(Generic[E]):
    """An example and where it was read."""

    example: E
    place: Place


@dataclass
class Noticed(Oddities):
    """What was put right on the way in, over all files of a set."""

    double_tags: int = 0

    def notes(self) -> list[str]:
        found = []
        if self.byte_order_marks:
            found.append("a byte-order mark at the start of a file was left out")
        if self.carriage_returns:
            found.append(f"{self.carriage_returns:,} line ends were CRLF and are read as LF")
        if self.double_tags:
            found.append(f"{self.double_tags:,} words have two tags joined by a comma: the first is taken")
        return found


def numbered(path: Path, noticed: Oddities) -> Iterator[tuple[int, str]]:
    """The lines of a plain or gzipped file, counted from 1, without their newlines; nothing else ends a line."""
    number, tail = 1, []
    for block in read_file(path, noticed):
        *complete, rest = block.split("\n")
        for line in complete:
            yield number, "".join([*tail, line])
            number, tail = number + 1, []
        if rest:
            tail.append(rest)
    if tail:
        yield number, "".join(tail)


def suffix(path: Path) -> str:
    """The ending that tells the format; .gz only tells how it is packed."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def joined(words: Sequence[str], most: int = 20, longest: int = 40) -> str:
    """Words for a message, in quotes and not too long, and how many more there are."""
    shown = ", ".join(f"'{word[:longest] + '...' * (len(word) > longest)}'" for word in words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown
