"""Text that is a list, such as words or names: each line is a document, and the end of a sorted list is no fair sample
of it."""

from seqlab.data.files import split_lines
from seqlab.data.text.given_splits import GivenSplits
from seqlab.data.text.split import SplitText

SHORT_LINE = 40  # characters
MIN_LINES = 50
WORDS_PER_LINE = 3  # of a line, on average
MOST_EMPTY = 0.05  # empty lines for each filled one
ENOUGH_LINES = 10_000  # to see that half of the lines are long, so that the others need not be read
SORTED = 0.95  # of the lines are not before the line above


def is_list(lines: int, empty: int, short: int, words: int) -> bool:
    """Whether nearly all filled lines are short, with few words. Where more lines are empty than between the sections
    of a list, they may end sentences of one word a line."""
    filled = lines - empty
    few_words = words <= WORDS_PER_LINE * filled and empty <= MOST_EMPTY * filled
    return filled >= MIN_LINES and short >= 0.95 * filled and few_words


def list_notes(text: SplitText) -> list[str]:
    """For the log, if a list is read as running text and its end is held out."""
    if text.by_lines or isinstance(text, GivenSplits) or text.scattering is not None:
        return []
    lines = total = empty = short = words = in_order = 0
    first = before = ""
    for line in map(str.strip, split_lines(text.corpus.blocks())):
        total += 1
        empty += not line
        short += bool(line) and len(line) <= SHORT_LINE
        if total % ENOUGH_LINES == 0 and short < total / 2:
            return []
        words += len(line.split())
        if line:
            lines, in_order, before = lines + 1, in_order + (line.casefold() >= before), line.casefold()
            first = first or before
    if not is_list(total, empty, short, words):
        return []
    is_sorted = in_order >= SORTED * lines and first < before
    held_out = ", and they are sorted, so that the end of the alphabet is held out" if is_sorted else ""
    return [
        f"nearly all lines are short, as in a list{held_out}: --documents lines makes each line a document, and a "
        f"shuffle assigns them to the splits"
    ]
