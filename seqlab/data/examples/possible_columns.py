"""Which columns of rows may be examples, where their names do not say it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from seqlab.data.examples.columns import (
    LABELED,
    PAIRS,
    columns_option,
    known_columns,
    may_be_labels,
    suggest_columns,
    suggest_pair,
)
from seqlab.data.examples.no_labels import why_no_labels
from seqlab.data.examples.table_sample import TableSample


class PossibleColumns(NamedTuple):
    """A text and its label, a text and its target, as far as there may be; where neither is, why there is no label."""

    labeled: tuple[str, str] | None = None
    pair: tuple[str, str] | None = None
    why: str | None = None


def possible_columns(rows: Sequence[Mapping[str, Any]]) -> PossibleColumns:
    if not rows or len(rows[0]) < 2:
        return PossibleColumns()
    columns, pair = suggest_columns(rows), suggest_pair(rows)
    why = why_no_labels(rows, columns[1])
    if why and pair is None:
        return PossibleColumns(why=why)
    labels = not why and (may_be_labels(rows, columns[1]) or pair is None)
    return PossibleColumns(columns if labels else None, pair)


def options_to_read(sample: TableSample) -> str:
    """The options with which training reads the rows as examples; nothing if they may be none."""
    possible = possible_columns(sample.rows)
    tasks = ((possible.labeled, LABELED, "classify"), (possible.pair, PAIRS, "translate"))
    found = {task: (columns, known_columns(sample.names, roles)) for columns, roles, task in tasks if columns}
    if sample.header and (named := [task for task, (columns, known) in found.items() if columns == known]):
        return f"--task {named[0]}"
    return next((f"--task {task} {columns_option(columns)}" for task, (columns, _) in found.items()), "")
