"""Lines of a file with their numbers, and examples with their locations, which begin every error message."""

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from seqlab.data.file_names import shorten
from seqlab.data.files import InputFixes, read_file, split_lines
from seqlab.data.invisible import show_invisible
from seqlab.data.parquet_files import PARQUET
from seqlab.errors import DataError
from seqlab.wording import counted

Row = TypeVar("Row")
MARK = "\ufeff"  # for the order of bytes
MAX_FAULTS = 3  # bad rows that a message names
MOST_ADVISED = 0.5  # with more bad rows, the file is not what it was taken for

JSON_LINES = (".jsonl", ".ndjson", ".json")
TEXT_TABLES = (".tsv", ".csv", *JSON_LINES)  # which can be read as running text, with all that stands in them
TABLES = (*TEXT_TABLES, PARQUET)
WITHOUT_HEADER = (*JSON_LINES, PARQUET)  # no line names the columns: the rows or the file do
CONLLU = ".conllu"
MISSING_VALUES = {
    *("na", "n/a", "n.a.", "nan", "<na>", "nat", "null", "(null)", "nil", "none", "undefined", "(blank)", "?", "-"),
    *("#n/a", "#ref!", "#name?", "#value!", "#div/0!", "#num!", "#null!"),  # of spreadsheets
    *(r"\n", ".", "[deleted]", "[removed]"),  # in dumps of databases (\N), in Stata and SAS, on Reddit
}
COMMENTS = "comments, which begin with #"  # lines that are passed over
COLUMNS = (".conll", ".bio", ".iob", ".iob2")


@dataclass(frozen=True)
class Location:
    """A line of a file, or a row of a Parquet file."""

    path: Path
    line: int

    @property
    def place(self) -> str:
        return f"{'row' if suffix(self.path) == PARQUET else 'line'} {self.line}"

    def __str__(self) -> str:
        return f"'{self.path}', {self.place}"


class GivenSplit(NamedTuple):
    """The split of an example as a column gives it, None if the value names none; `held_out` is the value of test rows
    that the user named, if any."""

    column: str
    value: str
    split: str | None
    held_out: str | None = None


class Group(NamedTuple):
    """Examples that belong together: a column and the value that they share."""

    column: str
    name: str


@dataclass(frozen=True)
class LocatedExample:
    """An example, the line where it begins, and its groups and its split if columns name them.

    `groups` has one for each column that may name groups, until groups.py chooses among them."""

    example: Any
    location: Location
    groups: tuple[Group, ...] = ()
    split: GivenSplit | None = None


LocatedExamples = Sequence[LocatedExample]


def located_in(corpus: str, examples: Sequence[Any]) -> LocatedExamples:
    """Examples of a built-in corpus: their numbers are where they begin."""
    return [LocatedExample(example, Location(Path(corpus), number)) for number, example in enumerate(examples, 1)]


class BadRow(DataError):
    """A row, sentence or pair that cannot be used: it is skipped, up to a limit."""

    split: GivenSplit | None = None  # if a column gives it
    unanswered = False  # whether it has a text and no answer

    def __init__(self, location: Location, reason: str):
        super().__init__(f"{location}: {reason}")
        self.location, self.reason = location, reason


def collect(
    path: Path, rows: Iterable[Row | BadRow], make: Callable[[Row], LocatedExample], fixes: InputFixes, unit: str
) -> list[LocatedExample]:
    """The examples of a file; bad rows are skipped and noted, or DataError if they are more than the limit allows."""
    examples: list[LocatedExample] = []
    faults: list[BadRow] = []
    total = 0
    for row in rows:
        total += 1
        try:
            if isinstance(row, BadRow):
                raise row
            examples.append(make(row))
        except BadRow as fault:
            if not fixes.skip_limit:
                raise
            faults.append(fault)
    if not faults:
        return examples
    allowed = math.ceil(fixes.skip_limit * total)
    of_all = f"{len(faults):,} of the {counted(total, unit)} of '{path}'"
    if len(faults) > allowed or not examples:
        first = "".join(f"\n  {fault.location.place}: {fault.reason}" for fault in faults[:MAX_FAULTS])
        enough = math.ceil(100 * len(faults) / total) / 100  # the limit that skips them all
        skip = f", or skip them: --set corpus.skip_limit={enough:g}" if fixes.trains else " or remove them."
        advice = skip if examples and enough <= MOST_ADVISED else "."
        limit = f", and at most {allowed:,} may be skipped" if examples else f": no {unit} is left"
        raise DataError(
            f"{of_all} cannot be used{limit}. The first of them:{first}\nCorrect "
            f"them{advice}{_in_common(path, faults, examples, new_line=True)}"
        )
    fixes.skipped_rows += len(faults)
    fixes.skipped.append(f"skipped {of_all} ({_reasons(faults)}){_in_common(path, faults, examples)}")
    return examples


def _in_common(path: Path, faults: Sequence[BadRow], examples: LocatedExamples, new_line: bool = False) -> str:
    """Which split loses most of its rows with these, and what rows are for that lack only their answers."""
    given = [fault.split for fault in faults if fault.split and fault.split.split]
    if not given:
        return ""
    split, count = Counter(one.split for one in given).most_common(1)[0]
    left = sum(located.split is not None and located.split.split == split for located in examples)
    if 2 * count <= len(faults) or count <= left:
        return ""
    which = "all of them are" if count == len(faults) else f"{count:,} of them are"
    others = "no other row is" if not left else f"only {left:,} others are"
    said = f"{which} {split} rows by the column '{given[0].column}', and {others}"
    if all(fault.unanswered for fault in faults):
        predict = f"seqlab predict RUN --file {shlex.quote(str(path))}"
        said += f". Rows without answers are neither trained on nor scored: a run predicts them, {predict}"
    return f"\n{said[0].upper()}{said[1:]}" if new_line else f": {said}"


def note_unread(path: Path, faults: Sequence[BadRow], fixes: InputFixes, unit: str) -> None:
    """Note the bad rows of a file to predict from, and why: they keep their places, as empty inputs."""
    fixes.unread |= {fault.location.line: fault.reason for fault in faults}
    if faults:
        fixes.skipped.append(f"{counted(len(faults), unit)} of {path.name} without a text to read ({_reasons(faults)})")


def _reasons(faults: Sequence[BadRow]) -> str:
    reasons = "; ".join(f"{fault.location.place}: {fault.reason.rstrip('.')}" for fault in faults[:MAX_FAULTS])
    return reasons + (f"; and {len(faults) - MAX_FAULTS:,} more" if len(faults) > MAX_FAULTS else "")


def numbered_lines(path: Path, fixes: InputFixes) -> Iterator[tuple[int, str]]:
    """The lines of a plain or gzipped file, counted from 1, without their newlines or byte-order marks."""
    for number, line in enumerate(split_lines(read_file(path, fixes)), 1):
        if line.startswith(MARK):  # of a file that was joined with others
            fixes.line_marks += 1
            yield number, line.lstrip(MARK)
        else:
            yield number, line


def suffix(path: Path) -> str:
    """The suffix that tells the format: the one before .gz."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def column_word(path: Path) -> str:
    """What a column is called there."""
    return "key" if suffix(path) in JSON_LINES else "column"


def quote_list(words: Sequence[str], most: int = 20, counts: Mapping[str, int] | None = None) -> str:
    """Words for a message, quoted, shortened, perhaps with their counts, and with the number of further ones."""
    quoted = ", ".join(
        f"'{show_invisible(shorten(word, 40))}'{f' ({counts[word]:,})' if counts else ''}" for word in words[:most]
    )
    return f"{quoted} and {len(words) - most:,} more" if len(words) > most else quoted
