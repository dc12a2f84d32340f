"""Accents that a text writes in two ways: as part of their letter, é, or as a character of their own, e and U+0301."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

UNUSUAL = re.compile(r"[^\t\n -~]")
ACCENTS = range(0x300, 0x370)  # marks that letters may include


def count_characters(blocks: Iterable[str]) -> Counter[str]:
    """How often each character beyond the printable ones of ASCII occurs, but for tabs and newlines."""
    counts: Counter[str] = Counter()
    for block in blocks:
        if UNUSUAL.search(block):
            counts.update({character: block.count(character) for character in set(block) if UNUSUAL.match(character)})
    return counts


def accent_notes(counts: Mapping[str, int]) -> list[str]:
    """How often an accent is written in either way, if both ways occur."""
    apart = {character: count for character, count in counts.items() if ord(character) in ACCENTS}
    within: Counter[str] = Counter()
    for character, count in counts.items():
        marks = {*unicodedata.normalize("NFD", character)[1:]} & apart.keys()
        within.update(dict.fromkeys(marks, count))
    if not within:
        return []
    separate = sum(apart[mark] for mark in within)
    named = ", ".join(f"U+{ord(mark):04X}" for mark in sorted(within))
    return [
        f"accents are written in two ways: {within.total():,} as part of their letter, {separate:,} as characters of "
        f"their own ({named}); what looks the same is then read as different"
    ]
