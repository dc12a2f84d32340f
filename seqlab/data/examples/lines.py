"""Lines of a file with their numbers, and examples with their locations, which begin every error message."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from seqlab.data.files import InputFixes, read_file, shorten, split_lines

JSON_LINES = (".jsonl", ".ndjson", ".json")
TABLES = (".tsv", ".csv", *JSON_LINES)
CONLLU = ".conllu"
COLUMNS = (".conll", ".bio", ".iob", ".iob2")


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"'{self.path}', line {self.line}"


class Group(NamedTuple):
    """Examples that belong together: a column and the value that they share."""

    column: str
    name: str


@dataclass(frozen=True)
class LocatedExample:
    """An example, the line where it begins, and its group if a column names one."""

    example: Any
    location: Location
    group: Group | None = None


LocatedExamples = Sequence[LocatedExample]


def numbered_lines(path: Path, fixes: InputFixes) -> Iterator[tuple[int, str]]:
    """The lines of a plain or gzipped file, counted from 1, without their newlines."""
    return enumerate(split_lines(read_file(path, fixes)), 1)


def suffix(path: Path) -> str:
    """The suffix that tells the format: the one before .gz."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def quote_list(words: Sequence[str], most: int = 20) -> str:
    """Words for a message, quoted, shortened, and with the number of further ones."""
    quoted = ", ".join(f"'{shorten(word, 40)}'" for word in words[:most])
    return f"{quoted} and {len(words) - most} more" if len(words) > most else quoted
