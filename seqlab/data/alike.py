"""When texts or labels are the same to a reader: case, Unicode form, spaces and invisible characters aside.

Splits, notes, `seqlab doctor` and the audit share this definition.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal

from seqlab.data.invisible import VISIBLE, may_have_invisible

NUMBER = re.compile(r"[+-]?\d{1,30}(?:[.,]\d{1,30})?")

CONTROL = re.compile(r"[^\t\n -~]")  # of ASCII


def _visible(text: str) -> str:
    return text.translate(VISIBLE) if may_have_invisible(text) else text


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _spaced(text: str) -> str:
    return " ".join(text.split())


ASPECTS: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "Unicode form": _composed,
    "spaces": _spaced,
    "invisible characters": _visible,
}
ALIKE = f"only in {', '.join([*ASPECTS][:-1])} or {[*ASPECTS][-1]}"  # how alike texts may differ

# letters of Cyrillic and Greek, and the Latin ones that look the same
LOOK_ALIKE = str.maketrans(
    "АВЕКМНОРСТУХІЅЈ" + "аеорсухіѕј" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "οναρ",
    "ABEKMHOPCTYXISJ" + "aeopcyxisj" + "ABEZHIKMNOPTYX" + "ovap",
)
STRAIGHT = {**dict.fromkeys(map(ord, "“”„‟«»"), '"'), **dict.fromkeys(map(ord, "‘’‚‛"), "'")}
LAST_MARKS = re.compile(r"[ .,;:]*[.,;:] *$")
MIXED_WORD = re.compile(r"\w*[A-Za-z]\w*")


def _latin(label: str) -> str:
    """With Latin letters for those that look the same, in words that have Latin ones: others may be in their script."""
    return label if label.isascii() else MIXED_WORD.sub(lambda word: word[0].translate(LOOK_ALIKE), label)


def _unpunctuated(label: str) -> str:
    return LAST_MARKS.sub("", label) or label  # marks alone are tags


def _unquoted(label: str) -> str:
    return label.translate(STRAIGHT).strip("\"'").strip() or label  # marks alone are tags


LABEL_ASPECTS: dict[str, Callable[[str], str]] = {
    "HTML entities": html.unescape,
    "quotation marks": _unquoted,
    **ASPECTS,
    "letters of other scripts that look the same": _latin,
    "marks at the end": _unpunctuated,
}


def same_form(text: str) -> str:
    """What is equal for alike texts."""
    if text.isascii() and not CONTROL.search(text):
        return _spaced(text.lower())
    return _spaced(_composed(_composed(_visible(text)).casefold()))


def same_label(label: str) -> str | Decimal:
    """What is equal for alike labels: also a number, however it is written, and what looks the same."""
    label = _unpunctuated(_unquoted(html.unescape(label).strip()))
    if NUMBER.fullmatch(label):
        return Decimal(label.replace(",", ".")) + 0
    return same_form(_latin(label))


def _without_all_but(aspect: str, label: str) -> str:
    """What is left of a label if it is the same in every other aspect."""
    for other, removed in LABEL_ASPECTS.items():
        label = label if other == aspect else removed(label)
    return label


def difference(alike: Sequence[str]) -> str:
    """In what alike labels differ, in words."""
    if isinstance(same_label(alike[0]), Decimal):
        return "only in how a number is written"
    found = [aspect for aspect in LABEL_ASPECTS if len({_without_all_but(aspect, label) for label in alike}) > 1]
    if found:
        return f"only in {' and '.join(found)}"
    return ALIKE if len(set(map(same_form, alike))) == 1 else "only in how they are written"
