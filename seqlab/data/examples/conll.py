"""Tagged sentences from CoNLL columns and from CoNLL-U.

One word per line and a blank line between sentences. In plain columns, the first is the word and the last the tag,
unless that has numbers and another one span tags.
CoNLL-U has ten named columns. Comments, multiword tokens and empty nodes are passed over.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from seqlab.data.alike import NUMBER
from seqlab.data.examples.bracket_spans import bracket_spans
from seqlab.data.examples.doubtful_columns import doubtful_columns
from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.lines import (
    COMMENTS,
    BadRow,
    LocatedExample,
    Location,
    collect,
    note_unread,
    numbered_lines,
)
from seqlab.data.examples.untagged import CONLLU
from seqlab.data.examples.word_column import columns_in_words, find_word_column, in_sentences
from seqlab.data.file_layout import SPAN_TAG
from seqlab.data.files import InputFixes
from seqlab.data.text.forms import form_of_text
from seqlab.errors import DataError, UsageError

DOCUMENT = "-DOCSTART-"
WORD_ID = re.compile(r"\d+")
SKIPPED_IDS = {"multiword tokens, such as 1-2": r"\d+-\d+", "empty nodes, such as 8.1": r"\d+\.\d+"}
SPAN_TAGS = re.compile(r"([A-Z][-_][^,]+|O)(,([A-Z][-_][^,]+|O))+")

WORD_NAMES = {"word", "words", "token", "tokens", "form", "text"}  # in a header, which such files rarely have
TAG_NAMES = {"tag", "tags", "label", "labels", "ner", "ner_tag", "ner_tags", "pos", "upos", "entity"}

TaggedWord = tuple[Location, str, str]
Sentence = list[TaggedWord]


def read_columns(path: Path, fixes: InputFixes) -> list[LocatedExample]:
    """The sentences of a file of columns, laid out like most of its lines."""
    if (form := form_of_text(path)) and form.has_tags:
        raise DataError(f"'{path}' looks like {form.looks_like}; expected a word and its tag on a line. {form.advice}")
    words = _column_words(path, fixes, fewest=2)
    tagged = (_first_tag(word, fixes) if isinstance(word, tuple) else word for word in words)
    sentences = _sentences(tagged, path, fixes)
    _refuse_swapped(path, [located.example for located in sentences])
    return sentences


def read_conllu(path: Path, columns: tuple[str, str] | None, fixes: InputFixes) -> list[LocatedExample]:
    """The sentences of a CoNLL-U file; the columns default to FORM and UPOS."""
    return _sentences(_conllu_words(path, columns, fixes), path, fixes)


def read_words(
    path: Path, conllu: bool, fixes: InputFixes, columns: tuple[str, str] | None = None
) -> dict[int, tuple[str, ...]]:
    """The words of each sentence as training reads them, whether or not they are tagged, by the line of the first one.

    A sentence with a bad line has no words, and is noted."""
    words = _conllu_words(path, columns, fixes, tagged=False) if conllu else _column_words(path, fixes, fewest=1)
    sentences: dict[int, tuple[str, ...]] = {}
    faults: list[BadRow] = []
    for sentence in _grouped(words):
        try:
            if isinstance(sentence, BadRow):
                raise sentence
            sentences[sentence[0][0].line] = _words(sentence)
        except BadRow as fault:
            sentences[fault.location.line] = ()
            faults.append(fault)
    note_unread(path, faults, fixes, "sentence")
    return sentences


def _sentences(words: Iterable[TaggedWord | BadRow | None], path: Path, fixes: InputFixes) -> list[LocatedExample]:
    """Group words into sentences; one with a bad line is skipped."""
    sentences = collect(path, _grouped(words), _tagged, fixes, "sentence")
    if not sentences:
        raise DataError(f"'{path}' has no words. Expected a word and its tag per line, a blank line between sentences.")
    return sentences


def _grouped(words: Iterable[TaggedWord | BadRow | None]) -> Iterator[Sentence | BadRow]:
    """None ends a sentence."""
    sentence: Sentence = []
    fault: BadRow | None = None
    for word in chain(words, [None]):
        if isinstance(word, BadRow):
            fault = fault or word
        elif word is not None:
            sentence.append(word)
        elif fault or sentence:
            yield fault or sentence
            sentence, fault = [], None


def _tagged(sentence: Sentence) -> LocatedExample:
    tags = tuple(_stripped(tag, "tag", location) for location, _, tag in sentence)
    return LocatedExample(TaggedSentence(_words(sentence), tags), sentence[0][0])


def _words(sentence: Sentence) -> tuple[str, ...]:
    return tuple(_stripped(text, "word", location) for location, text, _ in sentence)


def _stripped(field: str, what: str, location: Location) -> str:
    if not field.strip():
        raise BadRow(location, f"the {what} is empty.")
    return field.strip()


# --- plain columns --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UsualColumns:
    """How most lines are laid out: the first one that is, and the tags of all that are."""

    number: int
    tabs: bool
    first: int
    tags: frozenset[str]
    word: int = 0  # the place of the words: after a column that counts them, if there is one
    tag: int = -1  # the place of the tags: before the last, where that has numbers, such as confidences

    def rows_of(self, lines: Sequence[str]) -> list[list[str]]:
        rows = (_fields(line, self.tabs) for line in lines if line.strip() and not self.passed_over(line))
        return [fields for fields in rows if len(fields) == self.number]

    def tag_of(self, fields: Sequence[str]) -> str:
        return fields[self.tag if len(fields) == self.number else -1]

    def is_header(self, lines: Sequence[str]) -> bool:
        """Whether the first line names the columns, and no other line has such a tag."""
        fields = _fields(lines[self.first - 1], self.tabs)
        tag = self.tag_of(fields)
        if len(fields) < 2 or fields[0].casefold() not in WORD_NAMES or tag.casefold() not in TAG_NAMES:
            return False
        return sum(bool(line.strip()) and self.tag_of(_fields(line, self.tabs)) == tag for line in lines) == 1

    def passed_over(self, line: str) -> str | None:
        """What a line is that has no word: a comment begins with # and is not laid out like the others, or, between
        spaces, would have a tag that none of them has."""
        if line.startswith(DOCUMENT):
            return DOCUMENT
        if not line.startswith("#"):
            return None
        fields = _fields(line, self.tabs)
        has_tag = self.tabs or fields[0] != "#" or self.tag_of(fields) in {*self.tags, "#"}
        is_word = len(fields) == self.number and has_tag
        return None if is_word else COMMENTS


def _usual_columns(lines: Sequence[str], fewest: int) -> UsualColumns:
    filled = {number: line for number, line in enumerate(lines, 1) if line.strip() and not line.startswith(DOCUMENT)}
    plain = {number: line for number, line in filled.items() if not line.startswith("#")} or filled
    tabs = 2 * sum("\t" in line for line in plain.values()) > len(plain)
    rows = {number: _fields(line, tabs) for number, line in plain.items()}
    counts = Counter(len(fields) for fields in rows.values() if len(fields) >= fewest)
    usual = counts.most_common(1)[0][0] if counts else fewest
    alike = {number: fields for number, fields in rows.items() if len(fields) == usual}
    word = find_word_column(in_sentences(lines, rows, DOCUMENT), usual - fewest)
    tag = _before_numbers([*alike.values()], word)
    return UsualColumns(usual, tabs, next(iter(alike), 1), frozenset(row[tag] for row in alike.values()), word, tag)


def _before_numbers(rows: Sequence[Sequence[str]], word: int) -> int:
    """The place of span tags, counted from the end, if the last column has numbers; else the last. The first row may be
    a header."""
    rows = rows[1:]
    if not rows or not all(NUMBER.fullmatch(fields[-1].strip()) for fields in rows):
        return -1
    for place in range(-2, word - len(rows[0]), -1):
        tags = {fields[place].strip() for fields in rows}
        if tags - {"O"} and all(map(SPAN_TAG.fullmatch, tags)):
            return place
    return -1


def _fields(line: str, tabs: bool) -> list[str]:
    return line.split("\t") if tabs else re.split(r"[ \t]+", line.strip())


def _column_words(path: Path, fixes: InputFixes, fewest: int) -> Iterator[TaggedWord | BadRow | None]:
    """The words and tags of a file; where most lines have one column, which only `fewest=1` allows, lines are words."""
    lines = [line for _, line in numbered_lines(path, fixes)]
    usual = _usual_columns(lines, fewest)
    fixes.remarks += _columns_notes(path, usual, lines, tagged=fewest > 1)
    here, there = ("spaces", "tabs") if usual.tabs else ("tabs", "spaces")
    for number, line in enumerate(lines, 1):
        if number == usual.first and usual.is_header(lines):
            fixes.remarks.append(f"{path.name}: line {number} is a header and no word: {' '.join(line.split())}")
            continue
        kind = usual.passed_over(line)
        if kind or not line.strip():
            fixes.passed_over.update([kind] if kind else [])
            if kind in (None, DOCUMENT):
                yield None
            continue
        location, fields = Location(path, number), _fields(line, usual.tabs)
        if usual.number == 1:
            yield location, line.split("\t")[0], ""
        elif len(fields) != usual.number and ("\t" in line) != usual.tabs and len(line.split()) > 1:
            reason = f"{here} separate its columns, but {there} those of line {usual.first}. Use one of both."
            yield BadRow(location, reason)
        elif len(fields) == 1:
            odd = "; a no-break space (U+00A0) separates none: replace it by a tab" * ("\u00a0" in line)
            yield BadRow(location, f"one column only. Expected a word and its tag, separated by a tab or space{odd}.")
        elif len(fields) != usual.number:
            spaces = not usual.tabs and len(fields) > usual.number
            hint = " Where a word has spaces in it, separate all columns by tabs." if spaces else ""
            yield BadRow(location, f"{len(fields)} columns, but most lines have {usual.number}.{hint}")
        else:
            yield location, fields[usual.word], fields[usual.tag]


def _columns_notes(path: Path, usual: UsualColumns, lines: Sequence[str], tagged: bool) -> list[str]:
    given = path, usual.rows_of(lines), usual.word, usual.tag, usual.tabs
    doubts = [*doubtful_columns(*given), *bracket_spans(*given)] if tagged else []
    if usual.number <= 2 and not usual.word:
        return doubts
    word, place = usual.word + 1, usual.number + usual.tag + 1
    tag, last = (f", column {place} its tag", place - 1) if tagged else ("", usual.number)
    others = columns_in_words([*range(1, word - 1), *range(word + 1, last + 1)])
    counts = f"column {word - 1} counts words, " if usual.word else ""
    numbers = f"; column {usual.number} has numbers, which are not used" if tagged and usual.tag < -1 else ""
    read = f"{counts}column {word} is the word{tag}{others}{numbers}"
    return [f"columns of {path.name}: {read}", *doubts]


def _refuse_swapped(path: Path, sentences: Sequence[TaggedSentence]) -> None:
    """DataError if the words are span tags, and the tags are not."""
    words = {word for sentence in sentences for word in sentence.words}
    tags = {tag for sentence in sentences for tag in sentence.tags}
    spans = sorted(word for word in words if word != "O")
    if spans and all(map(SPAN_TAG.fullmatch, words)) and not all(map(SPAN_TAG.fullmatch, tags)):
        raise DataError(
            f"'{path}' has tags such as '{spans[0]}' in its first column: expected the word there and its tag in the "
            "last one. Exchange both columns."
        )


def _first_tag(word: TaggedWord, fixes: InputFixes) -> TaggedWord:
    """The word with the first of several span tags; a comma alone may be a tag."""
    location, text, tag = word
    if "," in tag and SPAN_TAGS.fullmatch(tag.strip()):
        fixes.double_tags += 1
        return location, text, tag.partition(",")[0]
    return word


# --- CoNLL-U --------------------------------------------------------------------------------------------------------


def _conllu_words(
    path: Path, columns: tuple[str, str] | None, fixes: InputFixes, tagged: bool = True
) -> Iterator[TaggedWord | BadRow | None]:
    word, tag = (_conllu_column(name) for name in columns or ("FORM", "UPOS"))
    read = f"{CONLLU[word]} is the word{f', {CONLLU[tag]} its tag' if tagged else ''}"
    fixes.remarks.append(f"columns of {path.name}: {read}; the others are not used")
    for number, line in numbered_lines(path, fixes):
        if not line.strip():
            yield None
        elif line.startswith("#"):
            fixes.passed_over[COMMENTS] += 1
        else:
            fields = line.split("\t")
            location = Location(path, number)
            if len(fields) != len(CONLLU):
                yield BadRow(location, f"{len(fields)} columns, but CoNLL-U has {len(CONLLU)}, separated by tabs.")
            elif WORD_ID.fullmatch(fields[0]):
                yield location, fields[word], fields[tag]
            elif kinds := [kind for kind, pattern in SKIPPED_IDS.items() if re.fullmatch(pattern, fields[0])]:
                fixes.passed_over.update(kinds)
            else:
                yield BadRow(location, f"the ID is '{fields[0]}', expected a number such as 1, 1-2 or 1.1.")


def _conllu_column(name: str) -> int:
    if name.upper() not in CONLLU[1:]:
        raise UsageError(
            f"corpus.columns names '{name}', which is not a column of CoNLL-U. Use FORM or LEMMA for the words and "
            f"""UPOS, XPOS or LEMMA for the tags: --set 'corpus.columns=["FORM", "XPOS"]'"""
        )
    return CONLLU.index(name.upper())
