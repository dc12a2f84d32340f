"""Characters that nobody sees, such as zero-width spaces, soft hyphens, the variation selectors of emoji and control
characters: a model reads them like any other."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping

# control and format characters, and separators of lines and paragraphs; of these only LF is the end of a line
INVISIBLE = {"Cc", "Cf", "Zl", "Zp"}
SEEN = "\t\n"  # controls that everybody sees, as space
CONTROLS = {  # those that often occur; Unicode gives them no name
    "\x0b": "vertical tab",
    "\x0c": "form feed",
    "\r": "carriage return",
    "\x1b": "escape",
    "\x7f": "delete",
    "\x85": "next line",
}
WIDE = "\u3000"  # the ideographic space, which everybody sees as wider
MAX_NAMED = 5  # kinds of characters that a note names
VARIATIONS = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # printable to Python


def is_invisible(character: str) -> bool:
    if character in SEEN:
        return False
    return unicodedata.category(character) in INVISIBLE or VARIATIONS.match(character) is not None


def may_have_invisible(text: str) -> bool:
    """A fast test, which is false for most texts."""
    return not text.isprintable() or VARIATIONS.search(text) is not None


class _Translation(dict[int, int | str | None]):
    """A table for str.translate that is filled as characters occur."""

    def __init__(self, translate: Callable[[str], int | str | None]):
        super().__init__()
        self.translate = translate

    def __missing__(self, code: int) -> int | str | None:
        self[code] = self.translate(chr(code))
        return self[code]


def _escaped(character: str) -> str:
    return character if character.isprintable() and not is_invisible(character) else ascii(character)[1:-1]


# removes invisible ones; those that divide words, such as a vertical tab, are spaces
VISIBLE = _Translation(lambda c: (" " if c.isspace() else None) if is_invisible(c) else c)
ESCAPED = _Translation(_escaped)
MARKS_ESCAPED = _Translation(lambda mark: ascii(mark)[1:-1] if unicodedata.combining(mark) else _escaped(mark))


def show_invisible(text: str) -> str:
    """A text for a message, on one line: what nobody sees is escaped, and so are marks that a letter should include."""
    return text.translate(ESCAPED if unicodedata.is_normalized("NFC", text) else MARKS_ESCAPED)


def _name(character: str) -> str:
    return CONTROLS.get(character) or unicodedata.name(character, "control character").lower()


def invisible_notes(characters: Mapping[str, int]) -> list[str]:
    """Their number and the names of the most frequent ones, if there are any; from how often each character occurs."""
    counts = Counter({character: count for character, count in characters.items() if is_invisible(character)})
    return [f"invisible characters: {counts.total():,}, read as they are: {_most_frequent(counts)}"] if counts else []


def space_notes(characters: Mapping[str, int]) -> list[str]:
    """The number and names of characters that look like a space and are another one, such as no-break spaces."""
    counts = Counter({one: count for one, count in characters.items() if unicodedata.category(one) == "Zs"})
    del counts[" "], counts[WIDE]
    what = "spaces that are not the ordinary one"
    return [f"{what}: {counts.total():,}, read as other characters: {_most_frequent(counts)}"] if counts else []


def _most_frequent(counts: Counter[str]) -> str:
    most = sorted(counts, key=lambda character: (-counts[character], character))[:MAX_NAMED]
    named = ", ".join(f"U+{ord(character):04X} {_name(character)} ({counts[character]:,})" for character in most)
    return named + (f", and {len(counts) - MAX_NAMED:,} more kinds" if len(counts) > MAX_NAMED else "")
