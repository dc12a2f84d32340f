"""Which column of rows is their text, where rows are read as running text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqlab.data.corpora.source import form_and_packing
from seqlab.data.documents.rows import FIELDS
from seqlab.data.examples.json_forms import jq_command
from seqlab.data.file_layout import FileLayout
from seqlab.data.new_files import new_file

MIN_WITH_TEXT = 0.9  # the share of rows that have the key of the text; fewer, and reading them is refused


def chosen_text_column(texts: Sequence[str]) -> str | None:
    """Of columns with texts, the one that is read without being named: one with a known name, or the only one."""
    known = (name for name in FIELDS["text"] if name in texts)
    return next(known, texts[0] if len(texts) == 1 else None)


def text_keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys of rows that have texts, first the one with the most different text: names and labels repeat."""
    texts: dict[str, set[str]] = {}
    for row in rows:
        for key, value in row.items():
            if isinstance(value, str):
                texts.setdefault(key, set()).add(value)
    return sorted(texts, key=lambda key: -sum(map(len, texts[key])))


def with_text_column(path: Path, layout: FileLayout, rows: Sequence[Mapping[str, Any]]) -> FileLayout:
    """The layout with the key whose texts JSON lines are as running text, if nearly all rows have it."""
    if form_and_packing(path.name)[0] != "rows" or not layout.is_text or not rows:
        return layout
    texts = text_keys(rows)
    column = chosen_text_column(texts) or next(iter(texts), None)
    if column is None:
        return replace(layout, is_text=False)
    missing = sum(not isinstance(row.get(column, 0), str | None) for row in rows)  # null is an empty text
    if missing <= (1 - MIN_WITH_TEXT) * len(rows):
        return replace(layout, text_column=column)
    if len(texts) == 1:
        why = f". {missing} of the first {len(rows):,} rows have no text under '{column}'"
        return replace(layout, text_column=column, missing=missing / len(rows), reason=layout.reason + why)
    return replace(layout, is_text=False, reason=layout.reason + _joined_keys(path, texts))


def _joined_keys(path: Path, texts: Sequence[str]) -> str:
    """How to give one name to texts that stand under one key here, and under another there."""
    if len(texts) < 2:
        return ""
    program = f"{{text: ({' // '.join(f'.[{json.dumps(key)}]' for key in texts)})}}"
    return f". If each has its text under one of these: {jq_command(path, program)} > {new_file('.jsonl')}"
