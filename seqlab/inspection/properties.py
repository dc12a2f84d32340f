"""Properties of a text that a unit may follow: a number after every character."""

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import numpy as np

from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.registry import did_you_mean

CLOSING = {"“": "”", "«": "»", "„": "“", '"': '"'}


def inside_quotes(text: str) -> list[float]:
    """1 from an opening quotation mark on, 0 from the closing one on."""
    values, awaited = [], ""
    for character in text:
        closed = awaited and character == awaited
        awaited = "" if closed else awaited or CLOSING.get(character, "")
        values.append(float(bool(awaited)))
    return values


def position_in_line(text: str) -> list[float]:
    """The number of characters since the last newline."""
    return [float(count) for count in accumulate(text, lambda so_far, c: 0 if c == "\n" else so_far + 1, initial=0)][1:]


def indentation(text: str) -> list[float]:
    """The number of spaces (a tab counts as one) that the line begins with, as far as it has been read."""
    values, width, begun = [], 0, False
    for character in text:
        if character == "\n":
            width, begun = 0, False
        elif character in " \t" and not begun:
            width += 1
        else:
            begun = True
        values.append(float(width))
    return values


def capitals(text: str) -> list[float]:
    """1 at a capital letter."""
    return [float(character.isupper()) for character in text]


PROPERTIES: dict[str, Callable[[str], list[float]]] = {
    "quotes": inside_quotes,
    "line": position_in_line,
    "indentation": indentation,
    "capitals": capitals,
}


def read_property(name: str, text: str) -> list[float]:
    """A property by its name, or the numbers in a file, one for each character of the text."""
    if name in PROPERTIES:
        return PROPERTIES[name](text)
    path = Path(name)
    if not path.suffix:
        known = f"{', '.join(PROPERTIES)}, or a file of numbers such as labels.txt"
        raise UsageError(f"'{name}' is no property{did_you_mean(name, PROPERTIES)}: expected {known}.")
    try:
        words = path.read_text(encoding="utf-8").split()
        values = [float(word) for word in words]
    except OSError as error:
        raise MissingInput(f"'{name}' cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(f"'{name}' does not consist of numbers: {error}.") from None
    if len(values) != len(text) or not np.isfinite(values).all():
        raise DataError(
            f"'{name}' has {len(values):,} numbers: expected a finite one for each of the {len(text):,} characters of "
            "the text."
        )
    return values
