"""Characters that nobody sees, such as zero-width spaces and soft hyphens: a model reads them like any other."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

MAX_NAMED = 5  # kinds of characters that a note names


def is_invisible(character: str) -> bool:
    return unicodedata.category(character) == "Cf"


def count_invisible(blocks: Iterable[str]) -> Counter[str]:
    """How often each of them occurs in a text."""
    counts: Counter[str] = Counter()
    for block in blocks:
        counts.update({character: block.count(character) for character in set(block) if is_invisible(character)})
    return counts


def invisible_notes(blocks: Iterable[str]) -> list[str]:
    """Their number and the names of the most frequent ones, if there are any."""
    counts = count_invisible(blocks)
    if not counts:
        return []
    named = ", ".join(
        f"U+{ord(character):04X} {unicodedata.name(character, 'without a name').lower()} ({count:,})"
        for character, count in counts.most_common(MAX_NAMED)
    )
    more = f", and {len(counts) - MAX_NAMED:,} more kinds" if len(counts) > MAX_NAMED else ""
    return [f"invisible characters: {counts.total():,}, read as they are: {named}{more}"]
