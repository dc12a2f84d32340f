"""Rows that an annotator rejected or ignored, by Prodigy's column `answer`: what they say is no label."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.data.examples.columns import columns_option
from seqlab.data.examples.json_lines import TableRow
from seqlab.data.examples.lines import BadRow, Location, quote_list
from seqlab.data.examples.no_labels import DECISIONS
from seqlab.errors import DataError
from seqlab.wording import counted

ANSWER, ACCEPTED = "answer", "accept"


@dataclass(frozen=True)
class AcceptedRows:
    """The rows that were accepted, chosen while they are read."""

    rows: Iterable[TableRow | BadRow]
    column: str

    def __iter__(self) -> Iterator[TableRow | BadRow]:
        return (row for row in self.rows if isinstance(row, BadRow) or _decision(row.fields, self.column) == ACCEPTED)


def find_decisions(
    names: Sequence[str], fields: Callable[[], Iterable[Mapping[str, Any]]], used: tuple[str, str], header: Location
) -> tuple[str, str] | None:
    """The column that says which rows were accepted, if some were not, and a note on those that are left out.

    DataError if the accepted ones have but one answer: then the decision is what can be learned."""
    column = next((name for name in names if name.casefold() == ANSWER and name not in used), None)
    if column is None or not {_decision(row, column) for row in fields()} <= DECISIONS:
        return None
    counts = Counter(_decision(row, column) for row in fields())
    left_out = {decision: count for decision, count in counts.items() if decision != ACCEPTED}
    if not left_out:
        return None
    said = f"{counted(sum(left_out.values()), 'row')} of '{header.path}' by {quote_list([*left_out], 2, left_out)} in "
    answers = {str(row.get(used[1])) for row in fields() if _decision(row, column) == ACCEPTED}
    if len(answers) < 2:
        one = f"all others have the label {quote_list([*answers])}" if answers else "no other row is left"
        raise DataError(
            f"{header}: left out {said}'{column}', and {one}. To learn what was accepted: "
            f"{columns_option((used[0], column))}"
        )
    return column, f"left out {said}'{column}'; {counts[ACCEPTED]:,} were accepted"


def _decision(fields: Mapping[str, Any], column: str) -> str:
    return str(fields.get(column, "")).strip()
