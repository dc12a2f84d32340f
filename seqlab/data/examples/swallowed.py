"""Cells that hold other rows of their table: a stray pair of quotes makes one cell of everything between them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from seqlab.data.examples.csv_records import Record
from seqlab.data.examples.delimiters import split_fields
from seqlab.data.examples.lines import BadRow
from seqlab.wording import counted


def swallowed_rows(path: Path, records: Sequence[Record | BadRow], delimiter: str) -> list[str]:
    """A note on cells of several lines that look like rows of this table."""
    read = [record for record in records if not isinstance(record, BadRow) and any(map(str.strip, record[1]))]
    if not any("\n" in field for _, fields in read for field in fields):
        return []
    known = _repeated_values([fields for _, fields in read])
    found: dict[int, int] = {}  # lines that look like rows, by where the cell begins
    for location, fields in read:
        line = location.line
        for place, field in enumerate(fields):
            if rows := sum(_is_row(*parts, known) for parts in _lines_of(field, place, delimiter, len(known))):
                found[line] = rows
            line += field.count("\n")
    if not found:
        return []
    first, rows = next(iter(found.items()))
    holds = f"the cell that begins in line {first:,} holds {counted(rows, 'line')} that"
    look = f"look{'s' if rows == 1 else ''} like {'a row' if rows == 1 else 'rows'} of this table"
    more = f" ({counted(len(found) - 1, 'more cell')} likewise)" if len(found) > 1 else ""
    return [f"{path.name}: {holds} {look}: is a quotation mark missing or stray?{more}"]


def _lines_of(field: str, place: int, delimiter: str, width: int) -> Iterator[tuple[list[str], int]]:
    """The lines of a cell that have as many fields as a row, and the column of their first field. The first line ends
    a row that has other cells before it; the last one would begin a row, but may be the end of a text."""
    first, *others = field.split("\n")
    if others and len(fields := split_fields(first, delimiter)) == width - place > 1:
        yield fields, place
    for line in others[:-1]:
        if len(fields := split_fields(line, delimiter)) == width > 1:
            yield fields, 0


def _is_row(fields: Sequence[str], begin: int, known: Sequence[set[str]]) -> bool:
    """Whether a value occurs in its column elsewhere, such as a label. Where no column repeats its values, whether no
    field is empty or begins with a space, as after the commas of a text."""
    if any(known):
        return any(
            field.strip() in known[place] for place, field in enumerate(fields, begin) if place > begin or not begin
        )
    return not begin and all(field and not field.startswith(" ") for field in fields)


def _repeated_values(rows: Sequence[Sequence[str]]) -> list[set[str]]:
    """The values of each column whose values mostly repeat; none of the other columns."""
    width = len(rows[0])
    known: list[set[str]] = []
    for place in range(width):
        counts = Counter(fields[place].strip() for fields in rows[1:] if len(fields) == width)
        del counts[""]
        repeated = {value for value, count in counts.items() if count > 1}
        most = 2 * sum(counts[value] for value in repeated) > counts.total()
        known.append(repeated if most else set())
    return known
