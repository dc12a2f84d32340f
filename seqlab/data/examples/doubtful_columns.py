"""Columns of tagged words that are probably not what they are read as: tags before words, lemmas or numbers last."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from seqlab.data.alike import NUMBER
from seqlab.data.new_files import command_on, new_file

FEWEST_ROWS = 20  # in which words and tags are seen to repeat


def doubtful_columns(path: Path, rows: Sequence[Sequence[str]], word: int, tag: int, tabs: bool) -> list[str]:
    """A note if another column has more of what words have, many different values, or of what tags have, few."""
    if len(rows) < FEWEST_ROWS:
        return []
    columns = [[field.strip() for field in column] for column in zip(*rows, strict=True)]
    tag %= len(columns)
    different = [len(set(column)) for column in columns]
    numbers = [all(map(NUMBER.fullmatch, column[1:])) for column in columns]
    usable = [place for place in range(len(columns)) if not numbers[place] and different[place] < len(rows)]
    best = max(usable, key=lambda place: different[place], default=word)
    words = word if word in usable and 2 * different[word] > different[best] else best
    tags = [place for place in usable if place != words and 1 < different[place] < different[words]]
    fewest = min(tags, key=lambda place: different[place], default=tag)
    tags_are_doubtful = tag == words or numbers[tag] or different[tag] >= different[words]
    expected = (words, fewest if tags_are_doubtful else tag)
    if expected == (word, tag) or expected[0] == expected[1]:
        return []
    fields = ", ".join(f"${place + 1}" for place in expected)
    program = shlex.quote(f"NF {{print {fields}}} !NF {{print}}")
    separated = r"-F '\t' " if tabs else ""
    command = rf"awk {separated}-v OFS='\t' {program}"
    return [
        f"warning: {path.name} is read with the word in column {word + 1} ({different[word]:,} different values) and "
        f"its tag in column {tag + 1} ({different[tag]:,}). If they are in columns {expected[0] + 1} and "
        f"{expected[1] + 1} ({different[expected[0]]:,} and {different[expected[1]]:,}): "
        f"{command_on(path, command)} > {new_file('.conll')}"
    ]
