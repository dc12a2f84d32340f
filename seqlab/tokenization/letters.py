"""What a word is made of: letters, digits, and the marks on them. Python's `\\w` leaves out the marks, without which
words of Hindi, Thai, vocalized Arabic or decomposed accents would be cut in the middle."""

import unicodedata
from itertools import pairwise

MARKS = {"Mn", "Mc", "Me"}
JOINERS = "\u200c\u200d"  # inside words of Persian and Indian scripts


def _mark_ranges() -> str:
    """The marks of the basic plane as the inside of a character class: `re` searches it in one step."""
    codes = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in MARKS]
    starts = [codes[0], *(after for before, after in pairwise(codes) if after != before + 1)]
    ends = [*(before for before, after in pairwise(codes) if after != before + 1), codes[-1]]
    return "".join(
        f"{chr(start)}-{chr(end)}" if start < end else chr(start) for start, end in zip(starts, ends, strict=True)
    )


MARK = _mark_ranges()
LETTER = rf"\w{MARK}{JOINERS}"  # the inside of a character class
