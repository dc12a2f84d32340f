"""Columns that were chosen by their names and are empty, as the inputs of many instructions are."""

from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.data.examples.columns import (
    PAIRS,
    ColumnPair,
    columns_option,
    may_be_labels,
    readable_columns,
    suggest_columns,
    suggest_pair,
)
from seqlab.data.examples.lines import Location, column_word
from seqlab.data.examples.no_labels import why_no_labels
from seqlab.errors import DataError
from seqlab.wording import counted

MOSTLY = 0.5  # the share of rows without a text from which on another column is suggested


def refuse_empty_columns(
    chosen: tuple[str, str], pair: ColumnPair, header: Location, sample: Sequence[Mapping[str, Any]]
) -> None:
    """DataError if one of two columns that nobody named has no text in most of the first rows, or no label in any of
    them, and others may be meant."""
    empty = {name: sum(_is_empty(row.get(name)) for row in sample) for name in chosen}
    most = [MOSTLY * len(sample), len(sample) - 1]
    name = next((name for name, limit in zip(chosen, most, strict=True) if empty[name] > limit), None)
    if name is None:
        return
    rows = readable_columns([{key: value for key, value in row.items() if key != name} for row in sample])
    others = _other_columns(rows, pair) if rows and len(rows[0]) > 1 else None
    if others is None:
        return
    raise DataError(
        f"{header}: the {column_word(header.path)} '{name}' was chosen by its name, and it is empty in "
        f"{empty[name]:,} of the first {counted(len(sample), 'row')}. Others may be meant: {columns_option(others)}"
    )


def _other_columns(rows: Sequence[Mapping[str, Any]], pair: ColumnPair) -> tuple[str, str] | None:
    if pair is PAIRS:
        return suggest_pair(rows)
    columns = suggest_columns(rows)
    is_label = why_no_labels(rows, columns[1]) is None and may_be_labels(rows, columns[1])
    return columns if is_label else None


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
