"""Texts inside the objects of JSON lines, below the first level, and the command that gets them out."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seqlab.data.foreign import on_file
from seqlab.data.new_files import new_file
from seqlab.data.parquet_files import AS_JSON_LINES, PARQUET


def nested_texts_advice(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """How to get the most text that stands deeper than the first level, as a sentence; empty if there are none."""
    texts: dict[str, set[str]] = {}
    for row in rows:
        for path, text in _texts(row):
            texts.setdefault(path, set()).add(text)
    if not texts:
        return ""
    if key := _only_key(rows):
        command = f"{_jq(name, '-c', f'.{_name(key)}')} > {new_file('.jsonl')}"
        return f"Its texts stand deeper, side by side in '{key}'. To make a table of them: {command}"
    path = max(texts, key=lambda path: sum(map(len, texts[path])))
    command = f"{_jq(name, '-r', f'{path} // empty')} > {new_file('.txt')}"
    return f"Its texts stand deeper. To get those of {path}: {command}"


def nested_documents_advice(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """How to make one text of those that stand deeper than the first level of each row, such as the messages of a
    conversation, as a sentence; empty if the first level has longer ones."""
    lengths: Counter[str] = Counter()
    deeper: Counter[str] = Counter()
    for row in rows:
        lengths.update({key: len(value) for key, value in row.items() if isinstance(value, str)})
        for path, text in _texts(row):
            deeper[path] += len(text)
    if not deeper or max(deeper.values()) <= max(lengths.values(), default=0):
        return ""
    path = max(deeper, key=deeper.__getitem__)
    program = f'. + {{text: [{path} | strings] | join("\\n")}}'
    command = f"{_jq(name, '-c', program)} > {new_file('.jsonl')}"
    return f"Its texts stand deeper. To join those of {path} in each row: {command}"


def _jq(name: str, output: str, program: str) -> str:
    run = f"jq {output} {shlex.quote(program)}"
    return (
        f"{on_file(AS_JSON_LINES, name)} | {run}"
        if name.lower().endswith(PARQUET)
        else f"{run} {on_file('FILE', name)}"
    )


def _only_key(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The key of rows that have no other, if its objects have several texts, such as a sentence in two languages."""
    keys = {key for row in rows for key in row}
    inner = [value for row in rows for value in row.values()]
    several = all(isinstance(v, dict) and sum(isinstance(part, str) for part in v.values()) > 1 for v in inner)
    return keys.pop() if len(keys) == 1 and several else None


def _name(key: str) -> str:
    """A key as jq writes it."""
    return key if key.isidentifier() and key.isascii() else json.dumps(key)


def _texts(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts within a value, with their paths as jq writes them."""
    if isinstance(value, str) and depth > 1:
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _texts(part, f"{path}.{_name(key)}", depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, f"{path}[]", depth + 1)
