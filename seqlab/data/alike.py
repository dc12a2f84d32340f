"""When texts or labels are the same to a reader: case, Unicode form, spaces and invisible characters aside.

Splits, notes, `seqlab doctor` and the audit share this definition.
"""

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


def same_form(text: str) -> str:
    """What is equal for alike texts."""
    if text.isascii() and not CONTROL.search(text):
        return _spaced(text.lower())
    return _spaced(_composed(_composed(_visible(text)).casefold()))


def same_label(label: str) -> str | Decimal:
    """What is equal for alike labels: also a number, however it is written."""
    if NUMBER.fullmatch(label.strip()):
        return Decimal(label.strip().replace(",", ".")) + 0
    return same_form(label)


def difference(alike: Sequence[str]) -> str:
    """In what alike labels differ, in words."""
    if isinstance(same_label(alike[0]), Decimal):
        return "only in how a number is written"
    found = [aspect for aspect, removed in ASPECTS.items() if len(set(map(removed, alike))) < len(alike)]
    return f"only in {' and '.join(found)}" if found else ALIKE
