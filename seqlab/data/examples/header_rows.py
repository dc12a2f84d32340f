"""Rows of a table that are no examples: they repeat its header, or describe its columns once more below it."""

import shlex
from collections.abc import Sequence

from seqlab.data.examples.csv_records import Record
from seqlab.data.examples.lines import MAX_FAULTS, BadRow, Location, quote_list, suffix
from seqlab.data.files import InputFixes
from seqlab.data.new_files import free_name
from seqlab.errors import DataError
from seqlab.wording import counted

IMPORT_ID = '{"ImportId":'  # with which Qualtrics begins the cells of its third line
DESCRIBING = 3  # lines below the header, at most, that Qualtrics writes before the rows


def without_headers(
    names: Sequence[str], records: Sequence[Record | BadRow], fixes: InputFixes
) -> list[Record | BadRow]:
    """The records that do not repeat the header, as in files that were joined; DataError if one has another order."""
    records = _without_descriptions(records, fixes)
    known = [name.casefold() for name in names]
    kept: list[Record | BadRow] = []
    repeated: list[Location] = []
    for record in records:
        if isinstance(record, BadRow) or record[1][0].strip().casefold() not in known:
            kept.append(record)
            continue
        fields = [field.strip().casefold() for field in record[1]]
        if fields == known:
            repeated.append(record[0])
        elif sorted(fields) == sorted(known):
            raise DataError(_another_header(*record))
        else:
            kept.append(record)
    if repeated:
        lines = ", ".join(f"{location.line:,}" for location in repeated[:MAX_FAULTS])
        more = f" and {len(repeated) - MAX_FAULTS:,} more" if len(repeated) > MAX_FAULTS else ""
        rows = counted(len(repeated), "row")
        fixes.skipped.append(f"skipped {rows} of '{repeated[0].path}' that repeat the header (line {lines}{more})")
    return kept


def _without_descriptions(records: Sequence[Record | BadRow], fixes: InputFixes) -> Sequence[Record | BadRow]:
    """The records below those that Qualtrics writes under the header: the questions, and names for its own import."""
    ends = [
        place
        for place, record in enumerate(records[:DESCRIBING], 1)
        if not isinstance(record, BadRow) and all(field.strip().startswith(IMPORT_ID) for field in record[1])
    ]
    if not ends:
        return records
    left_out = [record.location if isinstance(record, BadRow) else record[0] for record in records[: ends[-1]]]
    first, last = left_out[0].line, left_out[-1].line
    fixes.skipped.append(
        f"skipped {counted(len(left_out), 'row')} of '{left_out[0].path}' that describe the columns, as Qualtrics "
        f"writes them below the header (lines {first} to {last})"
    )
    return records[ends[-1] :]


def _another_header(location: Location, fields: Sequence[str]) -> str:
    name = location.path.name.removesuffix(".gz").removesuffix(suffix(location.path))
    parts = [shlex.quote(free_name(f"{name}-{part}", suffix(location.path))) for part in (1, 2)]
    read = f"{'gzip -dc' if location.path.suffix == '.gz' else 'cat'} {shlex.quote(str(location.path))}"
    return (
        f"{location}: a second header, with the columns in another order: {quote_list(fields)}. Divide the file here, "
        f"and give both parts:\n  {read} | head -n {location.line - 1} > {parts[0]}\n  {read} | "
        f"tail -n +{location.line} > {parts[1]}"
    )
