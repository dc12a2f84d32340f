"""Pairs from two files, line by line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from seqlab.data.examples.example import TextPair
from seqlab.data.examples.lines import BadRow, LocatedExample, Location, collect, numbered_lines, suffix
from seqlab.data.files import InputFixes
from seqlab.errors import DataError, UsageError
from seqlab.wording import counted


def read_parallel(source: Path, target: Path, fixes: InputFixes) -> list[LocatedExample]:
    """Sources and targets line by line; lines that are empty in both files are passed over."""
    sides = [[line for _, line in numbered_lines(path, fixes)] for path in (source, target)]
    counts = [len(lines) for lines in sides]
    if counts[0] != counts[1]:
        longer = source if counts[0] > counts[1] else target
        raise DataError(
            f"'{source}' has {counted(counts[0], 'line')} and '{target}' {counts[1]:,}, but both need the same number: "
            f"{Location(longer, min(counts) + 1)} has no partner."
        )
    blank = sum(not text.strip() and not translation.strip() for text, translation in zip(*sides, strict=True))
    fixes.blank_rows += blank
    if blank == len(sides[0]):
        raise DataError(f"'{source}' and '{target}' are empty.")
    return collect(source, _pairs(source, target, zip(*sides, strict=True)), lambda pair: pair, fixes, "pair")


def refuse_swapped(files: Mapping[str, Sequence[str]]) -> None:
    """UsageError if two held-out files have the suffixes of the training files in the other order."""
    trained, *others = [(split, [suffix(Path(item)) for item in items]) for split, items in files.items()]
    if len(trained[1]) != 2 or trained[1][0] == trained[1][1]:
        return
    for split, found in others:
        if found == trained[1][::-1]:
            raise UsageError(
                f"the {split} files are in the order {' '.join(found)}, and training has {' '.join(trained[1])}: give "
                f"sources and targets in the same order, {' '.join(files[split][::-1])}."
            )


def _pairs(source: Path, target: Path, lines: Iterable[tuple[str, str]]) -> Iterator[LocatedExample | BadRow]:
    for number, (text, translation) in enumerate(lines, 1):
        has_text, has_translation = bool(text.strip()), bool(translation.strip())
        if has_text != has_translation:
            empty, partner = (target, source) if has_text else (source, target)
            yield BadRow(Location(empty, number), f"the line is empty, but {Location(partner, number)} is not.")
        elif has_text:
            yield LocatedExample(TextPair(text, translation), Location(source, number))
