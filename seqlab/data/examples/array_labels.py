"""Arrays in JSON lines, as annotation tools write them: labels, spans of the text, or words and their tags. Objects in
place of texts."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.data.examples.columns import LABELED, readable_columns, suggest_columns
from seqlab.data.examples.json_forms import jq_command
from seqlab.data.examples.lines import Location, quote_list
from seqlab.data.file_names import shorten
from seqlab.data.nested_json import nested_texts_advice
from seqlab.data.new_files import new_file
from seqlab.errors import DataError

LABEL_NAMES = (*LABELED.second, "labels", "accept")  # Prodigy writes the choices that were accepted

# content_text is the key "text" of the object "content"
FLATTEN = (
    """jq -c '[paths(type != "object" and type != "array") as $p | {key: ($p | map(tostring) | join("_")), """
    """value: getpath($p)}] | from_entries'"""
)


def refuse_objects(columns: Sequence[str], first: Location, rows: Sequence[Mapping[str, Any]]) -> None:
    """DataError if a column has objects in all rows, such as a sentence in two languages, with the command that makes a
    table of their texts."""
    for column in columns:
        inner = [{column: row.get(column)} for row in rows if isinstance(row.get(column), dict)]
        if len(inner) == len(rows) and (advice := nested_texts_advice(inner, str(first.path))):
            raise DataError(f"{first}: '{column}' is an object, expected a text. {advice}")


def refuse_arrays(first: Location, column: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """DataError if the labels of most rows are arrays, with the command that makes labels of them, if one can."""
    arrays = [row[column] for row in rows if isinstance(row.get(column), list)]
    filled = [array for array in arrays if array]
    if not filled or 2 * len(arrays) <= len(rows):
        return
    shown = shorten(json.dumps(filled[0], ensure_ascii=False), 60)
    said = f"{first}: '{column}' is an array, such as {shown}, and a text has one label"
    if any(isinstance(item, list | dict) for array in filled for item in array):
        raise DataError(
            f"{said}. These are parts of the text: to learn them, write a word and its tag on each line, with an empty "
            f"line after each sentence (John B-PER), and train with --task tag; annotation tools export this as CoNLL."
        )
    raise DataError(f"{said}; {_write_alone(first.path, column, rows)}")


def labels_in_arrays(path: Path, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Which column has arrays of labels, strings that repeat over the rows, and the command that makes a table of them
    and the texts; None if no column has, or another has one of these labels for each row, as that of SNLI."""
    names = dict.fromkeys(name for row in rows for name in row)
    found = [name for name in names if _has_labels([row.get(name) for row in rows])]
    readable = readable_columns(rows)
    if not found or not readable[0] or any(_has_one_of(rows, found, name) for name in readable[0]):
        return None
    column = min(found, key=lambda name: name.casefold() not in LABEL_NAMES)
    text = suggest_columns(readable)[0] if len(readable[0]) > 1 else next(iter(readable[0]))
    command = _write_alone(path, column, rows, None if text.casefold() in LABELED.first else text)
    return f"{path.name} has its labels in arrays, in '{column}'; {command}"


def _has_labels(values: Sequence[Any]) -> bool:
    arrays = [value for value in values if isinstance(value, list)]
    filled = [array for array in arrays if array]
    if not filled or 2 * len(arrays) <= len(values) or not all(isinstance(item, str) for a in filled for item in a):
        return False
    different = len({array[0] for array in filled})
    return different > 1 and 2 * different <= len(filled) and 2 * sum(len(array) == 1 for array in filled) > len(filled)


def _has_one_of(rows: Sequence[Mapping[str, Any]], arrays: Sequence[str], name: str) -> bool:
    """Whether the values of a column are labels that these arrays have; rows without agreement may have a mark."""
    lists = [row[array] for row in rows for array in arrays if isinstance(row.get(array), list)]
    labels = {item for items in lists for item in items if isinstance(item, str)}
    values = [row.get(name) for row in rows]
    return 2 * sum(isinstance(value, str) and value in labels for value in values) > len(values)


def _write_alone(path: Path, column: str, rows: Sequence[Mapping[str, Any]], text: str | None = None) -> str:
    """The command that makes labels of arrays, and calls this column the text, if one is named."""
    several = sum(len(row[column]) > 1 for row in rows if isinstance(row.get(column), list))
    keeps = (
        f"{several:,} of the first {len(rows):,} have several; to keep the first" if several else "to write it alone"
    )
    array = f".[{json.dumps(column)}]"
    program = f'{array} |= (if type == "array" then .[0] else . end)'
    if column.casefold() not in LABELED.second:
        program += f" | .label = {array}"
    if text:
        program += f" | .text = .[{json.dumps(text)}]"
    return f"{keeps}: {jq_command(path, program)} > {new_file('.jsonl')}"


def keys_of_type(kind: type, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys of JSON lines with objects or arrays as values, which cannot be read as a text or label."""
    return list(dict.fromkeys(key for fields in rows for key, value in fields.items() if isinstance(value, kind)))


def as_tagged(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """How to write arrays of words and of their tags, in that order, as a word and its tag on each line."""
    lists = keys_of_type(list, rows)
    tags = [key for key in lists[1:] if all(len(row.get(key, ())) == len(row.get(lists[0], ())) for row in rows)]
    inner = (item for row in rows for key in (*lists[:1], *tags) for item in row.get(key, ()))
    if not tags or any(isinstance(item, list | dict) for item in inner):  # rows of another table are no words
        return ""
    named = [key for key in tags if "tag" in key.lower() or "label" in key.lower()]
    chosen = (named or tags)[-1]
    program = f'[.[{json.dumps(lists[0])}, {json.dumps(chosen)}]] | transpose | (.[] | map(tostring) | join("\\t")), ""'
    command = f"{jq_command(path, program, '-r')} > {new_file('.conll')}"
    others = [key for key in tags if key != chosen]
    which = f" of {quote_list([chosen])}, or of {quote_list(others)} instead," if others else ""
    return f". {quote_list(lists, 10)}: arrays, no texts; to write a word and its tag{which} on each line: {command}"


def refuse_words(first: Location, column: str, rows: Sequence[Mapping[str, Any]], tags: bool) -> None:
    """DataError if most texts to predict from would be arrays, with the command that writes their words as the run
    reads them: one on each line if it predicts `tags`. A few arrays are rows without a text, which are counted."""
    arrays = sum(isinstance(row.get(column), list) for row in rows)
    if 2 * arrays <= len(rows):
        return
    key = f".[{json.dumps(column, ensure_ascii=False)}]"
    advice = as_tagged(first.path, rows) if tags and arrays == len(rows) else ""
    if not advice:
        words, text = f"{key}[]", 'join(" ")'
        if arrays < len(rows):  # the others are texts, or have nothing to read
            words = f'({key} | if type == "string" then splits(" +") else .[]? end)'
            text = f'(if type == "array" then {text} else . end)'
        one_each = jq_command(first.path, f'{words}, ""', "-r")
        joined = jq_command(first.path, f"{key} |= {text}")
        advice = f"a word on each line: {one_each}" if tags else f"texts: {joined}"
        advice = f". To write {advice} > {new_file('.conll' if tags else '.jsonl')}"
    where = f"{first}: '{column}' is an array"
    if arrays < len(rows):
        where = f"'{first.path}': '{column}' is an array in {arrays:,} of the first {len(rows):,} rows"
    raise DataError(f"{where}, expected a text{advice}")


def nesting_note(path: Path, rows: Sequence[Mapping[str, Any]], is_text: bool) -> str:
    """How to get at the texts of objects within the rows."""
    if nested := keys_of_type(dict, rows):
        flatten = f"{FLATTEN} {shlex.quote(str(path))} > {new_file('.jsonl')}"
        return f". {quote_list(nested, 10)}: objects, no texts; to flatten them: {flatten}"
    advice = "" if is_text else nested_texts_advice(rows, str(path))
    return f". {advice}" if advice else ""
