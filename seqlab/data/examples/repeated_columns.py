"""Columns to read that have the name of another: rows by column have only the last of them."""

from collections.abc import Iterable, Sequence

from seqlab.data.examples.lines import Location
from seqlab.errors import DataError

RENAME = "Rename all but one."


def repeated(names: Sequence[str], columns: Iterable[str]) -> str:
    """What is said of the first of the columns that has the name of another; nothing if none has."""
    return next((f"{names.count(name)} columns are named '{name}'" for name in columns if names.count(name) > 1), "")


def refuse_repeated(names: Sequence[str], columns: Iterable[str], header: Location) -> None:
    if said := repeated(names, columns):
        raise DataError(f"{header}: {said}. {RENAME}")
