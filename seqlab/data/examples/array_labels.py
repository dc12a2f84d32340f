"""Labels in arrays, as annotation tools write them: one label, several of them, or spans of the text."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.data.examples.lines import Location
from seqlab.data.files import shorten
from seqlab.errors import DataError


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
    several = sum(len(array) > 1 for array in filled)
    keeps = (
        f"{several:,} of the first {len(rows):,} have several; to keep the first" if several else "to write it alone"
    )
    program = f'.[{json.dumps(column)}] |= (if type == "array" then .[0] else . end)'
    source = shlex.quote(str(first.path))
    unpack = f"gzip -dc {source} | jq -c {shlex.quote(program)}" if first.path.suffix == ".gz" else ""
    raise DataError(f"{said}; {keeps}: {unpack or f'jq -c {shlex.quote(program)} {source}'} > new.jsonl")
