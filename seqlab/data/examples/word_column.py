"""Which column of tagged words has the words: the first, or the one after a column that counts them."""

from collections.abc import Mapping, Sequence


def find_word_column(sentences: Sequence[Sequence[Sequence[str]]], last: int) -> int:
    """The place after the column that counts 0, 1, 2 ... or 1, 2, 3 ... in every sentence, as in CoNLL-2009, before
    which every sentence has but one value, such as a document in CoNLL-2012; 0 if there is none. At most `last`."""
    for place in range(last):
        columns = [[fields[place].strip() for fields in sentence if len(fields) > place] for sentence in sentences]
        if any(_counts(columns, first) for first in (0, 1)):
            return place + 1
        if any(len(set(column)) > 1 for column in columns):
            return 0
    return 0


def _counts(columns: Sequence[Sequence[str]], first: int) -> bool:
    counted = all(field == str(number) for column in columns for number, field in enumerate(column, first))
    return counted and max(map(len, columns), default=0) > 1


def in_sentences(lines: Sequence[str], rows: Mapping[int, Sequence[str]], document: str) -> list[list[Sequence[str]]]:
    """The rows, by their line, of each sentence: a blank line or the line of a document ends one."""
    sentences: list[list[Sequence[str]]] = [[]]
    for number, line in enumerate(lines, 1):
        if number in rows:
            sentences[-1].append(rows[number])
        elif sentences[-1] and (not line.strip() or line.startswith(document)):
            sentences.append([])
    return sentences


def columns_in_words(numbers: Sequence[int]) -> str:
    """A clause on columns, by their numbers, that are not used; nothing if there are none."""
    if len(numbers) < 2:
        return f"; column {numbers[0]} is not used" if numbers else ""
    follow = numbers[-1] - numbers[0] == len(numbers) - 1
    named = f"{numbers[0]} to {numbers[-1]}" if follow else ", ".join(map(str, numbers))
    return f"; columns {named} are not used"
