"""The names of files in messages: a few of many, on one line, and such that they can be told apart."""

from collections.abc import Sequence
from pathlib import Path

from seqlab.data.invisible import ESCAPED
from seqlab.data.standard_input import NAME, is_copy

MAX_NAMED = 5  # files in a note


def shorten(text: str, longest: int = 200) -> str:
    """The text, cut if it is too long for a message."""
    return text if len(text) <= longest else text[:longest] + "..."


def name_files(files: Sequence[str]) -> str:
    """The names of a few files; of many, also their number."""
    names = first_names(files)
    return names if len(files) <= MAX_NAMED else f"{len(files):,} files ({names})"


def first_names(files: Sequence[str]) -> str:
    """The names of the first few files, with folders where several have one name, and the number of the others."""
    parts = 1 if len({Path(file).name for file in files}) == len(files) else 2
    names = ", ".join(_name(file, parts) for file in files[:MAX_NAMED])
    return names if len(files) <= MAX_NAMED else f"{names} and {len(files) - MAX_NAMED:,} more"


def _name(file: str, parts: int) -> str:
    return NAME if is_copy(file) else str(Path(*Path(file).parts[-parts:])).translate(ESCAPED)
