"""Rows from JSON lines: one object per line."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.data.examples.json_forms import arrays_command, commas_command, form_of_text, has_comma, jq_command, no_json
from seqlab.data.examples.lines import BadRow, Location, numbered_lines, quote_list
from seqlab.data.files import InputFixes
from seqlab.data.new_files import new_file
from seqlab.errors import DataError


@dataclass(frozen=True)
class TableRow:
    """The fields of one record by column, and the line where it begins."""

    location: Location
    fields: Mapping[str, Any]


def read_objects(path: Path, fixes: InputFixes) -> list[TableRow | BadRow]:
    """The objects of a file, with remarks on what they repeat."""
    twice: list[str] = []
    lines = [(Location(path, number), line) for number, line in numbered_lines(path, fixes) if line.strip()]
    rows = [parse_object(location, line, twice) for location, line in lines]
    if not rows:
        raise DataError(f"'{path}' is empty. Expected one JSON object per line.")
    if len(rows) == 1 or isinstance(rows[0], BadRow):
        texts = [line for _, line in lines]
        if form := form_of_text(path, "\n".join(texts)) or no_json(path, texts):
            raise DataError(f"'{path}': {form}")
    location, last = lines[-1]
    if isinstance(rows[-1], BadRow) and last.startswith("{") and not last.rstrip().endswith("}"):
        rows[-1] = BadRow(location, f"the file ends within this object: ...{last[-20:]}. Was it copied completely?")
    note_repeated_keys(path, twice, fixes)
    return rows


def note_repeated_keys(path: Path, twice: Sequence[str], fixes: InputFixes) -> None:
    if twice:
        keys = quote_list([*dict.fromkeys(twice)], 3)
        fixes.remarks.append(f"keys that an object of {path.name} has twice: {len(twice):,} ({keys}); the last counts")


def parse_object(location: Location, line: str, twice: list[str] | None = None) -> TableRow | BadRow:
    """The object of a line; `twice` collects the keys that it repeats."""
    advice = "Expected one object per line"
    if line.lstrip().startswith("["):
        command = f"{jq_command(location.path, '.[]')} > {new_file('.jsonl')}"
        advice += f"; to convert a file with one array: {command}"

    def fields_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if twice is not None and len(fields) < len(pairs):
            twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return fields

    try:
        fields = json.loads(line, object_pairs_hook=fields_of)
    except RecursionError:
        return BadRow(location, f"JSON nested too deeply. {advice}")
    except ValueError as error:  # JSONDecodeError, or an integer of thousands of digits
        if has_comma(line):
            return BadRow(location, f"a comma follows the object. {advice}; {commas_command(location.path)}")
        return BadRow(location, f"this is not JSON: {error}. {advice}")
    if isinstance(fields, list):
        return BadRow(location, f"an array. Expected one object per line; {arrays_command(location.path)}")
    if not isinstance(fields, dict):
        return BadRow(location, f"{type_name(fields)}. {advice}")
    return TableRow(location, fields)


def keys_of(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys that any of the objects has, in the order of the first that has them."""
    return list(dict.fromkeys(key for fields in objects for key in fields))


def type_name(value: Any) -> str:
    if isinstance(value, float):
        return "NaN, which is no number" if math.isnan(value) else f"the number {value}"
    names = {type(None): "null", bool: "a boolean", int: "an integer", str: "a string", bytes: "bytes"}
    return names.get(type(value), "an array" if isinstance(value, list) else "an object")
