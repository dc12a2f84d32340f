"""Columns that are requested by number, as in tables without a header, where the first line names them."""

import shlex
from collections.abc import Sequence

from seqlab.data.examples.columns import ColumnPair, columns_option
from seqlab.data.examples.lines import Location, quote_list
from seqlab.data.foreign import new_name
from seqlab.errors import DataError


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
