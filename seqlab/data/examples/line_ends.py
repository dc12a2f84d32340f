"""Rows that end in CR alone among others that end in LF: each is on one line with the next."""

from collections.abc import Sequence
from pathlib import Path

from seqlab.data.examples.delimiters import split_fields
from seqlab.data.examples.lines import suffix
from seqlab.data.new_files import command_on, new_file
from seqlab.errors import DataError
from seqlab.wording import counted

TO_LF = r"sed 's/\r$//; s/\r/\n/g'"


def refuse_joined_rows(path: Path, lines: Sequence[str], delimiter: str) -> None:
    """DataError if a CR within a line divides it into whole rows, which is no CR within a text."""
    header = next(filter(str.strip, lines), "").split("\r")[0]
    width = len(split_fields(header, delimiter))
    joined = {
        number: line.strip("\r").count("\r")
        for number, line in enumerate(lines, 1)
        if "\r" in line.strip("\r") and _are_rows(line, delimiter, width)
    }
    if not joined or width < 2:
        return
    rows = sum(joined.values())
    ends, is_on = ("ends", "it is") if rows == 1 else ("end", "each of them is")
    command = command_on(path, TO_LF)
    where = f"'{path}', line {next(iter(joined))}"
    raise DataError(
        f"{where}: {counted(rows, 'row')} {ends} in CR alone and others in LF, so {is_on} on "
        f"one line with the next. To end all of them in LF: {command} > {new_file(suffix(path))}"
    )


def _are_rows(line: str, delimiter: str, width: int) -> bool:
    return all(len(split_fields(part, delimiter)) == width for part in line.strip("\r").split("\r"))
