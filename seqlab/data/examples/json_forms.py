"""Tables that are JSON, but not one object per line: what form they have, and a command that rewrites them."""

import json
import re
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seqlab.data.file_names import shorten
from seqlab.data.files import read_beginning
from seqlab.data.new_files import command_on, free_name, new_file
from seqlab.data.parquet_files import AS_JSON_LINES, PARQUET
from seqlab.errors import DataError

NESTED_ROWS, PLACES_NAMED = 100, 6  # rows in which nested texts are looked for, and places that are named
FEWEST_ROWS = 4  # in which labels are seen to repeat
LABEL_KEY = re.compile(r'"(choices|label|class|category|sentiment)(s|es)?"', re.IGNORECASE)
MAX_TABLE_DEPTH = 3  # keys that may lead to a table in one object
NAME = re.compile(r"[\w-]+")  # that a file can have
MAX_BYTES = 64 * 1024**2  # of a file that is read to tell its form, where its beginning does not


def form_of_object(path: Path, fields: Mapping[str, Any]) -> str | None:
    """What one object with a whole table in it is, with the command; None if it is a row."""
    values, by_pandas = list(fields.values()), True
    tables = [key for key, value in fields.items() if _is_list_of_objects(value)]
    if _is_split(fields):
        rows, kind = (
            'dict(zip(t["columns"], row)) for row in t["data"]',
            "the names of the columns, and arrays of values",
        )
    elif _has_rows(fields):
        rows, kind = "row for row in t.values()", "a table by rows"
    elif 1 < len(values) != len(tables) and all(_is_column(value, values[0]) for value in values):
        cells = "c.values()" if isinstance(values[0], dict) else "c"
        rows = f"dict(zip(t, row)) for row in zip(*({cells} for c in t.values()))"
        kind = "a table by columns"
    elif len(tables) > 1:
        return f"{path.name} is one object with several tables, not an object per line; {_rewrite_each(path, tables)}"
    elif place := _longest_table(fields):
        rows = f"row for row in t{''.join(f'[{json.dumps(key)}]' for key in place)}"
        kind, by_pandas = f"a table in '{'.'.join(place)}'", len(place) == 1
    else:
        return None
    return f"{path.name} is one object with {kind}, not an object per line; {_rewrite(path, rows, by_pandas)}"


def _longest_table(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that lead to the longest array of objects; none if there is none, or if those within other objects are
    only a small part, as details of a row are."""
    tables = dict(_tables_in(fields))
    if not tables:
        return ()
    is_inside = all(len(place) > 1 for place in tables)
    if is_inside and 2 * sum(map(_size, tables.values())) < _size(fields):
        return ()
    return max(tables, key=lambda place: len(tables[place]))


def _tables_in(fields: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """The arrays of objects in an object and those within it, each with the keys that lead to it."""
    for key, value in fields.items():
        inner = (*place, key)
        if _is_list_of_objects(value):
            yield inner, value
        elif isinstance(value, dict) and len(inner) < MAX_TABLE_DEPTH:
            yield from _tables_in(value, inner)


def _size(value: Any) -> int:
    return len(json.dumps(value))


def form_of_text(path: Path, text: str) -> str | None:
    """What a file is that is one JSON value, on any number of lines, with the command; None if it is none, or a row."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(content, dict):
        return form_of_object(path, content)
    if _is_list_of_objects(content):
        kind = "one array with a table by rows, not an object per line"
        if nested := _nested_fields(content):
            places = [place for place in (nested.text, nested.label, *nested.others) if place]
            where = ", ".join(f"'{place}'" for place in places[:PLACES_NAMED])
            return f"{path.name} is {kind}, whose texts are in nested fields ({where}); {_flat_command(path, nested)}"
        return f"{path.name} is {kind}; {_array_command(path)}"
    if isinstance(content, list) and content and all(isinstance(item, str) for item in content):
        command = f"{jq_command(path, '.[] | {text: .}')} > {new_file('.jsonl')}"
        return f"{path.name} is one array of texts, not an object per line; to make a row of each: {command}"
    if isinstance(content, list) and len(content) > 1 and all(_is_column(row, content[0]) for row in content):
        kind = "one array with an array for each row, which have no keys"
        return f"{path.name} is {kind}; {_rewrite(path, '{str(n): v for n, v in enumerate(r, 1)} for r in t', False)}"
    return None


def form_of_file(path: Path) -> str | None:
    """What a file is that is one JSON value, with the command; None if it is none, is too large to tell, or cannot be
    read, which reading says."""
    try:
        lines, complete = read_beginning(path, MAX_BYTES)
    except (OSError, EOFError, zlib.error, DataError):
        return None
    return form_of_text(path, "\n".join(lines)) if complete else None


def _array_command(path: Path) -> str:
    return f"to convert an array: {jq_command(path, '.[]')} > {new_file('.jsonl')}"


def jq_command(path: Path, program: str, output: str = "-c") -> str:
    run = f"jq {output} {shlex.quote(program)}"
    if path.suffix.lower() == PARQUET:
        return f"{AS_JSON_LINES.replace('FILE', shlex.quote(str(path)))} | {run}"
    return command_on(path, run)


class NestedFields(NamedTuple):
    """Where strings are within rows, as jq writes it: the longest are texts, and labels vary and repeat."""

    text: str
    label: str | None
    others: Sequence[str]


def _nested_fields(rows: Sequence[Mapping[str, Any]]) -> NestedFields | None:
    """The strings within the fields of rows that have none by themselves."""
    if any(isinstance(value, str) for row in rows for value in row.values()):
        return None
    values: dict[str, list[str]] = {}
    for row in rows[:NESTED_ROWS]:
        for place, value in _strings_in(row, ""):
            values.setdefault(place, []).append(value)
    if not values:
        return None
    text, *others = sorted(values, key=lambda place: -sum(map(len, values[place])))
    different = {place: len({*values[place]}) for place in others}
    labels = [place for place in others if different[place] > 1 and 2 * different[place] <= len(values[place])]
    label = min(labels, key=lambda place: (LABEL_KEY.search(place) is None, different[place]), default=None)
    if len(rows) < FEWEST_ROWS and others:  # too few to see what repeats
        label = next(filter(LABEL_KEY.search, others), others[0])
    return NestedFields(text, label, [place for place in others if place != label])


def _strings_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Each string below a value; of an array, the first item."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings_in(item, f"{place}[{json.dumps(key)}]")
    elif isinstance(value, list) and value:
        yield from _strings_in(value[0], f"{place}[0]")


def _flat_command(path: Path, found: NestedFields) -> str:
    """The longest strings as texts, those that vary and repeat as labels."""
    alone = f"to write the texts alone: {jq_command(path, f'.[] | {{text: .{found.text}}}')} > {new_file('.jsonl')}"
    if found.label is None:
        return f"no other field has values that vary and repeat, as labels do; {alone}"
    names = {"text": found.text, "label": found.label}
    program = f".[] | {{{', '.join(f'{name}: .{place}' for name, place in names.items())}}}"
    check = ", if these are the texts and the labels" if found.others else ""
    both = f"{jq_command(path, program)} > {new_file('.jsonl')}"
    return f"{alone}; to write them side by side{check}: {both}"


def _has_rows(fields: Mapping[str, Any]) -> bool:
    """Whether each value is a row, an object of its fields (orient="index" in pandas), and not a column, an object by
    the numbers of rows."""
    rows = list(fields.values())
    if len(rows) < 2 or not all(isinstance(row, dict) and row for row in rows):
        return False
    inner = {key for row in rows for key in row}
    numbered, numbers = all(map(str.isdigit, fields)), all(map(str.isdigit, inner))
    return len(fields) > len(inner) if numbered == numbers else numbered


def form_of_line(path: Path, lines: Sequence[str]) -> str:
    """What a file is that begins with these lines, the first of which is no object, with the command."""
    beginning = next(filter(str.strip, lines), "")
    first = next((number for number, line in enumerate(lines, 1) if isinstance(_parsed(line), dict)), None)
    if isinstance(_parsed(beginning), list):
        return f"{path.name} has an array on its first line, not an object; {arrays_command(path)}"
    if has_comma(beginning):
        return f"{path.name} has a comma after each object; {commas_command(path)}"
    if beginning.lstrip().startswith("{"):
        one_line = f"{jq_command(path, '.')} > {new_file('.jsonl')}"
        return f"{path.name} has objects of several lines each, not an object per line; to convert them: {one_line}"
    said = f"{path.name} has no JSON object on its first line, as JSON lines do"
    if beginning.lstrip().startswith("["):
        return f"{said}; {_array_command(path)}"
    if advice := no_json(path, lines):
        return advice
    if isinstance(_parsed(beginning), str):
        texts = f"{jq_command(path, '.', '-r')} > {new_file('.txt')}"
        return f"{said}, but a string; to get the strings as running text: {texts}"
    if first is None:
        return said
    command = command_on(path, f"tail -n +{first}")
    return f"{said}, but on line {first}; to remove what is above: {command} > {new_file('.jsonl')}"


def no_json(path: Path, lines: Sequence[str]) -> str:
    """What to do about a file of these lines if none of them begins as an object or an array, and most are no JSON at
    all, as those of a text with another name; else nothing."""
    filled = [line.strip() for line in lines if line.strip()]
    parsed = sum(_parsed(line) is not None for line in filled)
    if not filled or filled[0][0] in "{[" or 2 * parsed >= len(filled) or any(line[0] == "{" for line in filled):
        return ""
    packing = path.suffix if path.suffix.lower() in (".gz", ".zst") else ""
    return (
        f"{path.name} has no JSON object on its first line, as JSON lines do: it has lines such as "
        f"'{shorten(filled[0], 40)}', which are no JSON. If they are plain text, give it a name that ends in .txt: "
        f"cp {shlex.quote(str(path))} {new_file(f'.txt{packing}')}"
    )


def arrays_command(path: Path) -> str:
    """How to rewrite a file with an array on each line."""
    program = "to_entries | map({key: (.key + 1 | tostring), value}) | from_entries"
    return f"to make an object of each array, with numbers as keys: {jq_command(path, program)} > {new_file('.jsonl')}"


def _parsed(line: str) -> Any:
    """The value of a line, None if it is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def has_comma(line: str) -> bool:
    """Whether a line is an object and a comma, as in the middle of an array."""
    return line.rstrip().endswith(",") and isinstance(_parsed(line.rstrip().removesuffix(",")), dict)


def commas_command(path: Path) -> str:
    rewrite = command_on(path, "sed 's/,[[:space:]]*$//'")
    return f"to remove the commas: {rewrite} > {new_file('.jsonl')}"


def _rewrite(path: Path, rows: str, pandas: bool = True) -> str:
    program = f"{_loaded(path)}; [print(json.dumps(r)) for r in ({rows})]"
    made = new_file(".jsonl")
    by_pandas = f'from pandas: to_json("{made}", orient="records", lines=True); without it: '
    return f"{by_pandas if pandas else 'to convert: '}python3 -c {shlex.quote(program)} > {made}"


def _rewrite_each(path: Path, keys: Sequence[str]) -> str:
    """The command that writes a file for each table."""
    names = [key if NAME.fullmatch(key) else str(number) for number, key in enumerate(keys, 1)]
    files: dict[str, str] = {}
    for key, name in zip(keys, names, strict=True):
        files[key] = free_name(f"new-{name}", ".jsonl", files.values())
    write = 'open(f, "w").writelines(json.dumps(r) + "\\n" for r in t[k])'
    program = f"{_loaded(path)}; [{write} for k, f in {json.dumps(files)}.items()]"
    return f"to write {', '.join(files.values())}: python3 -c {shlex.quote(program)}"


def _loaded(path: Path) -> str:
    opened = f'{"gzip.open" if path.suffix == ".gz" else "open"}({json.dumps(str(path))}, "rb")'
    return f"import gzip, json; t = json.load({opened})"


def _is_split(fields: Mapping[str, Any]) -> bool:
    """What pandas calls orient="split"."""
    data = fields.get("data")
    return isinstance(fields.get("columns"), list) and isinstance(data, list) and all(isinstance(r, list) for r in data)


def _is_column(value: Any, first: Any) -> bool:
    """Whether it has a value for each row, by its number or in order, as the first column has."""
    if isinstance(first, dict) and isinstance(value, dict):
        return len(value) > 1 and value.keys() == first.keys()
    return isinstance(first, list) and isinstance(value, list) and len(value) == len(first) > 1


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
