"""Texts inside the objects of JSON lines, below the first level, and the command that gets them out."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seqlab.data.foreign import on_file


def nested_texts_advice(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """How to get the most text that stands deeper than the first level, as a sentence; empty if there are none."""
    texts: dict[str, set[str]] = {}
    for row in rows:
        for path, text in _texts(row):
            texts.setdefault(path, set()).add(text)
    if not texts:
        return ""
    path = max(texts, key=lambda path: sum(map(len, texts[path])))
    command = f"jq -r {shlex.quote(f'{path} // empty')} FILE > new.txt"
    return f"Its texts stand deeper. To get those of {path}: {on_file(command, name)}"


def _texts(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts within a value, with their paths as jq writes them."""
    if isinstance(value, str) and depth > 1:
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            name = key if key.isidentifier() and key.isascii() else json.dumps(key)
            yield from _texts(part, f"{path}.{name}", depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, f"{path}[]", depth + 1)
