"""Columns that are requested by number, as in tables without a header: which they are, and where the first line names
them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from seqlab.data.examples.columns import ColumnPair, columns_option
from seqlab.data.examples.lines import Location, quote_list
from seqlab.data.examples.table_sample import is_surely_header
from seqlab.data.files import InputFixes
from seqlab.data.foreign import new_name
from seqlab.errors import DataError


def are_positions(requested: Sequence[str], names: Sequence[str], path: Path) -> bool:
    """Whether columns are requested by their positions. The first line may have the same numbers, as names or as data:
    they are names only if all of them are, and the line is not like the rows below, as far as there are some."""
    if not all(name.isascii() and name.isdigit() for name in requested):
        return False
    named = [name in names for name in requested]
    if not any(named) or not all(1 <= int(name) <= len(names) for name in requested):
        return not any(named)
    return not all(named) or not is_surely_header(path)


def requested_names(requested: Sequence[str], names: Sequence[str], path: Path) -> list[str]:
    """The names of the columns that are requested by name; numbers say nothing about the task."""
    if are_positions(requested, names, path):
        return []
    return [name for column in requested for name in names if name.casefold() == column.casefold()]


def numbered_columns(
    names: Sequence[str], pair: ColumnPair, requested: Sequence[str], header: Location, fixes: InputFixes
) -> list[str] | None:
    """The numbers of all columns, if they are `requested` by number: the first line is data then, and a note says so.
    None if names are requested; a note tells names that could be numbers."""
    places = [str(number) for number in range(1, len(names) + 1)]
    both = [name for name in requested if name in names and name in places]
    if are_positions(requested, names, header.path):
        refuse_numbers(names, pair, requested, header, [*fixes.first_lines])
        shown = " | ".join(f"{name:.30}" for name in names[:4])
        cells = "a position, not that cell" if len(both) == 1 else "positions, not those cells"
        fixes.first_lines[header.path.name] = f"{shown} ({quote_list(both)}: {cells})" if both else shown
        return places
    if both:
        are = "is the name of a column there, not a position"
        are = are if len(both) == 1 else "are the names of columns there, not positions"
        fixes.remarks.append(f"line {header.line} of {header.path.name} is its header: {quote_list(both)} {are}")
    return None


def refuse_numbers(
    names: Sequence[str], pair: ColumnPair, numbers: Sequence[str], header: Location, numbered: Sequence[str] = ()
) -> None:
    """DataError if columns are requested by number, but the first line names them: it would become an example.

    `numbered` are files that were read by these numbers: names would not fit those."""
    known = [name for name in names if name.casefold() in (*pair.first, *pair.second)]
    by_number = {str(number): name for number, name in enumerate(names, 1)}
    meant = [by_number[number] for number in numbers if number in by_number]
    if len(known) < 2 or len(meant) < len(numbers) or not set(meant) <= set(known):
        return
    if numbered:
        rest = f"tail -n +{header.line + 1}"
        source, new = shlex.quote(str(header.path)), new_name(str(header.path))
        command = f"gzip -dc {source} | {rest}" if header.path.suffix == ".gz" else f"{rest} {source}"
        raise DataError(
            f"{header}: this is a header with the columns {quote_list(names)}, and {quote_list(numbered)} has none, so "
            f"that its columns are numbered. Remove the header here, and give the new file: {command} > {new}"
        )
    option = f"--column {shlex.quote(meant[0])}" if len(meant) == 1 else columns_option(meant)
    raise DataError(
        f"{header}: this is a header with the columns {quote_list(names)}, and numbers are for tables without one. "
        f"Give the names instead: {option}"
    )
