"""A table below a title, as spreadsheets export it: the header is not the first line."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from seqlab.data.examples.columns import LABELED, PAIRS, is_name, known_columns
from seqlab.data.examples.delimiters import DELIMITERS, split_fields
from seqlab.data.examples.lines import quote_list, suffix
from seqlab.data.new_files import new_file

MAX_TITLES = 5  # lines above the header


def header_below(path: Path, lines: Sequence[str]) -> str | None:
    """Which of the first lines looks like the header, where the first does not, and how to remove those above it."""
    first, *below = lines[: MAX_TITLES + 1] or [""]
    if _names(first):
        return None
    for number, line in enumerate(below, 2):
        if names := _names(line):
            source, rest = shlex.quote(str(path)), f"tail -n +{number}"
            command = f"gzip -dc {source} | {rest}" if path.suffix == ".gz" else f"{rest} {source}"
            above = "line 1" if number == 2 else f"lines 1 to {number - 1}"
            return (
                f"line {number} of {path.name} looks like the header ({quote_list(names, 10)}), and {above} like a "
                f"title: {command} > {new_file(suffix(path))}"
            )
    return None


def _names(line: str) -> list[str]:
    """The names of columns in a line, if two of them are those of texts and answers; else nothing."""
    for delimiter in DELIMITERS:
        fields = [field.strip() for field in split_fields(line, delimiter)]
        filled = [field for field in fields if field]
        if len(filled) > 1 and all(map(is_name, filled)) and any(known_columns(filled, p) for p in (LABELED, PAIRS)):
            return filled
    return []
