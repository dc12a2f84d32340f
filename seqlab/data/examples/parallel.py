"""Pairs from two files, the same line of each."""

from pathlib import Path

from seqlab.data.examples.example import Pair
from seqlab.data.examples.lines import Noticed, Place, Placed, numbered
from seqlab.errors import DataError


def read_parallel(source: Path, target: Path, noticed: Noticed) -> list[Placed[Pair]]:
    """Sources and targets line by line; lines that are empty in both are passed over."""
    sides = [[line for _, line in numbered(path, noticed)] for path in (source, target)]
    counts = [len(lines) for lines in sides]
    if counts[0] != counts[1]:
        longer = source if counts[0] > counts[1] else target
        raise DataError(
            f"'{source}' has {counts[0]:,} lines and '{target}' {counts[1]:,}, where both must have the same number: "
            f"{Place(longer, min(counts) + 1)} has no partner."
        )
    found: list[Placed[Pair]] = []
    for number, (text, translation) in enumerate(zip(*sides, strict=True), 1):
        full = bool(text.strip()), bool(translation.strip())
        if full[0] != full[1]:
            empty, partner = (target, source) if full[0] else (source, target)
            raise DataError(f"{Place(empty, number)}: the line is empty, but {Place(partner, number)} is not.")
        if all(full):
            found.append(Placed(Pair(text, translation), Place(source, number)))
    if not found:
        raise DataError(f"'{source}' and '{target}' are empty.")
    return found
