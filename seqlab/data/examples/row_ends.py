"""Fields at the end of a row that no column of the header names, as where every line ends with a delimiter."""

from collections.abc import Sequence
from typing import NamedTuple


class RowEnds(NamedTuple):
    """The names of a header and the fields of its rows, without empty fields at the end; `removed` counts the rows
    that had some. A row with content beyond the names has more fields than there are names: it is broken."""

    names: list[str]
    rows: Sequence[Sequence[str]]
    removed: int = 0


def without_ends(names: Sequence[str], rows: Sequence[Sequence[str]]) -> RowEnds:
    """Everything stays if the columns without names hold content in most rows. Where the header has no such columns and
    some rows have content beyond it, empty fields at the ends of others are removed only if most rows have them: else
    a delimiter within a text may have made them."""
    width = max((place for place, name in enumerate(names, 1) if name), default=len(names))
    ends = [_last_filled(row) > width for row in rows]
    empty = [len(row) > width and not filled for row, filled in zip(rows, ends, strict=True)]
    usual = 2 * sum(empty) > len(rows) or (width < len(names) and 2 * sum(ends) <= len(rows))
    if any(ends) and not usual:
        return RowEnds([*names], rows)
    kept = [row if len(row) <= width else row[: max(width, _last_filled(row))] for row in rows]
    return RowEnds([*names[:width]], kept, sum(empty))


def _last_filled(row: Sequence[str]) -> int:
    """How many fields there are up to the last one with content."""
    return max((place for place, field in enumerate(row, 1) if field.strip()), default=0)
