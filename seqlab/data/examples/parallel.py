"""Pairs from two files, line by line."""

import csv
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from seqlab.data.examples.columns import PAIRS, known_columns
from seqlab.data.examples.example import TextPair
from seqlab.data.examples.lines import TABLES, BadRow, LocatedExample, Location, collect, numbered_lines, suffix
from seqlab.data.examples.slipped_lines import slip_note
from seqlab.data.examples.table_sample import sample_table
from seqlab.data.file_layout import recognize_layout
from seqlab.data.files import InputFixes
from seqlab.data.new_files import free_name
from seqlab.data.text.forms import form_of_text
from seqlab.data.text.tagged_words import tags_of_other_file
from seqlab.errors import DataError, UsageError
from seqlab.wording import counted


def read_parallel(source: Path, target: Path, fixes: InputFixes) -> list[LocatedExample]:
    """Sources and targets line by line; lines that are empty in both files are passed over."""
    sides = [[line for _, line in numbered_lines(path, fixes)] for path in (source, target)]
    fixes.remarks += _notes_on_forms(source, target)
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
    tags = tags_of_other_file((source, target), sides)
    fixes.remarks += [tags] if tags else []
    fixes.remarks += slip_note(sides[0], sides[1], source.name, target.name)
    return collect(source, _pairs(source, target, zip(*sides, strict=True)), lambda pair: pair, fixes, "pair")


def _notes_on_forms(source: Path, target: Path) -> list[str]:
    """What both files look like; the commands write to different files."""
    first, second = map(_other_form, (source, target))
    written = re.search(r"> (new(?:-\d+)?)(\.\w+)$", first or "")
    if written and second:
        name = "".join(written.groups())
        second = second.replace(f"> {name}", f"> {free_name('new', written[2], {name})}")
    return [note for note in (first, second) if note]


def _other_form(path: Path) -> str | None:
    """What the lines of a file look like that are no plain sentences: subtitles, columns, a table."""
    if form := form_of_text(path):
        advice = form.as_lines or form.advice
        return f"{path.name} looks like {form.looks_like}, and its lines are read as they are. {advice}"
    layout = recognize_layout(path)
    return f"{layout.reason}: all of it is read as the sentence" if layout else None


def refuse_swapped(files: Mapping[str, Sequence[str]], columns: tuple[str, str] | None = None) -> None:
    """UsageError if held-out files are from the target language into the source language, by the suffixes of two files
    or the columns of a table; `columns` are those that training named."""
    trained, *others = [(split, _languages(items, columns)) for split, items in files.items()]
    if len(set(trained[1])) != 2:
        return
    for split, found in others:
        if found == trained[1][::-1]:
            advice = f"give sources and targets in the same order, {' '.join(files[split][::-1])}."
            if len(files[split]) == 1:
                advice = f"exchange both columns of {files[split][0]}."
            raise UsageError(
                f"the {split} files are in the order {' '.join(found)}, and training has {' '.join(trained[1])}: "
                f"{advice}"
            )


def languages_of_files(items: Sequence[str]) -> tuple[str, str] | None:
    """What two files with a text per line are called, by their suffixes; None for other files."""
    suffixes = [suffix(Path(item)) for item in items]
    if len(items) != 2 or not {*TABLES}.isdisjoint(suffixes):
        return None
    return suffixes[0].removeprefix("."), suffixes[1].removeprefix(".")


def _languages(items: Sequence[str], columns: tuple[str, str] | None) -> list[str]:
    """What two files, or the two columns of the first table, are called; nothing if that is unknown."""
    if languages := languages_of_files(items):
        return [*languages]
    if columns:
        return [name.lower() for name in columns]
    try:
        found = known_columns(sample_table(Path(items[0])).names, PAIRS)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError, csv.Error):
        return []  # reading says what is wrong, if it is still to be read
    return [name.lower() for name in found or ()]


def _pairs(source: Path, target: Path, lines: Iterable[tuple[str, str]]) -> Iterator[LocatedExample | BadRow]:
    for number, (text, translation) in enumerate(lines, 1):
        has_text, has_translation = bool(text.strip()), bool(translation.strip())
        if has_text != has_translation:
            empty, partner = (target, source) if has_text else (source, target)
            yield BadRow(Location(empty, number), f"the line is empty in {empty.name}, and not in {partner.name}.")
        elif has_text:
            yield LocatedExample(TextPair(text, translation), Location(source, number))
