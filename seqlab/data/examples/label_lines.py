"""Labeled texts as fastText has them: on each line, words that begin with __label__ are labels, others the text."""

from pathlib import Path

from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.lines import BadRow, LocatedExample, Location, collect, numbered_lines
from seqlab.data.file_layout import LABEL, LABEL_WORD, recognize_layout
from seqlab.data.files import InputFixes
from seqlab.wording import counted

BETWEEN = ","  # labels of one text: each combination is a label, as in the cells of a table


def has_label_lines(path: Path) -> bool:
    layout = recognize_layout(path)
    return layout is not None and layout.kind == "labeled"


def read_label_lines(path: Path, fixes: InputFixes) -> list[LocatedExample]:
    """The texts and labels of a file; blank lines are passed over."""
    lines = [(Location(path, number), line) for number, line in numbered_lines(path, fixes) if line.strip()]
    fixes.remarks.append(
        f"{path.name}: the words of a line that begin with {LABEL} are the label, the rest is the text"
    )
    if several := sum(len(_divided(line)[0]) > 1 for _, line in lines):
        fixes.remarks.append(
            f"{path.name}: {counted(several, 'line')} with several labels, joined by commas: a text has one label, so "
            f"each combination is learned as a class of its own"
        )
    return collect(path, lines, _example, fixes, "line")


def text_of(line: str) -> str:
    """A line without its labels, if it has any."""
    return _divided(line)[1]


def _example(row: tuple[Location, str]) -> LocatedExample:
    location, line = row
    labels, text = _divided(line)
    if not labels:
        raise BadRow(location, f"no label: expected {LABEL} and its name beside the text.")
    if not text:
        raise BadRow(location, "no text stands beside the label.")
    return LocatedExample(LabeledText(text, BETWEEN.join(labels)), location)


def _divided(line: str) -> tuple[list[str], str]:
    """The labels, wherever they stand in the line, as fastText reads it, and the other words."""
    labels = [match[1] for match in LABEL_WORD.finditer(line) if match[1]]
    return labels, " ".join(part.strip() for part in LABEL_WORD.split(line)[::2] if part.strip())
