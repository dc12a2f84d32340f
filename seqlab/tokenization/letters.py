"""What a word is made of: letters, digits, and the marks on them. Python's `\\w` leaves out the marks, without which
words of Hindi, Thai, vocalized Arabic or decomposed accents would be cut in the middle."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

MARKS = {"Mn", "Mc", "Me"}
JOINERS = "\u200c\u200d"  # inside words of Persian and Indian scripts


def character_ranges(codes: Sequence[int]) -> str:
    """Code points in their order as the inside of a character class."""
    starts = [codes[0], *(after for before, after in pairwise(codes) if after != before + 1)]
    ends = [*(before for before, after in pairwise(codes) if after != before + 1), codes[-1]]
    return "".join(
        f"{chr(start)}-{chr(end)}" if start < end else chr(start) for start, end in zip(starts, ends, strict=True)
    )


# of the basic plane: `re` searches it in one step
MARK = character_ranges([code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in MARKS])
LETTER = rf"\w{MARK}{JOINERS}"  # the inside of a character class
