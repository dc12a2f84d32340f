"""Pairs from two files, line by line."""

from pathlib import Path

from seqlab.data.examples.example import TextPair
from seqlab.data.examples.lines import LocatedExample, Location, numbered_lines
from seqlab.data.files import InputFixes
from seqlab.errors import DataError


def read_parallel(source: Path, target: Path, fixes: InputFixes) -> list[LocatedExample]:
    """Sources and targets line by line; lines that are empty in both files are skipped."""
    sides = [[line for _, line in numbered_lines(path, fixes)] for path in (source, target)]
    counts = [len(lines) for lines in sides]
    if counts[0] != counts[1]:
        longer = source if counts[0] > counts[1] else target
        raise DataError(
            f"'{source}' has {counts[0]:,} lines and '{target}' {counts[1]:,}, but both need the same number: "
            f"{Location(longer, min(counts) + 1)} has no partner."
        )
    pairs: list[LocatedExample] = []
    for number, (text, translation) in enumerate(zip(*sides, strict=True), 1):
        has_text, has_translation = bool(text.strip()), bool(translation.strip())
        if has_text != has_translation:
            empty, partner = (target, source) if has_text else (source, target)
            raise DataError(f"{Location(empty, number)}: the line is empty, but {Location(partner, number)} is not.")
        if has_text:
            pairs.append(LocatedExample(TextPair(text, translation), Location(source, number)))
    if not pairs:
        raise DataError(f"'{source}' and '{target}' are empty.")
    return pairs
