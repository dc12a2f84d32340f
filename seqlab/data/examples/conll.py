"""Tagged words from CoNLL columns and from CoNLL-U.

One word a line and a blank line between sentences. Plain columns: the word is the first, the tag the last. CoNLL-U has
ten named columns, comments, and lines for what is no word by itself, which are passed over.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.lines import Noticed, Place, Placed, numbered
from seqlab.errors import DataError, UsageError

CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
DOCUMENT = "-DOCSTART-"
WORD_NUMBER = re.compile(r"\d+")
NO_WORD_NUMBER = re.compile(r"\d+-\d+|\d+\.\d+")  # words written as one, and words that were left out
SPAN_TAGS = re.compile(r"([A-Z]-[^,]+|O)(,([A-Z]-[^,]+|O))+")

Line = tuple[Place, str, str] | None  # a word and its tag, or the end of a sentence


def read_columns(path: Path, noticed: Noticed) -> list[Placed[TaggedSentence]]:
    """The sentences of a file of columns, separated by tabs if its first line has one, else by any whitespace."""
    return _sentences(_column_lines(path, noticed), path)


def read_conllu(path: Path, columns: tuple[str, str] | None, noticed: Noticed) -> list[Placed[TaggedSentence]]:
    """The sentences of a CoNLL-U file; its columns are FORM and UPOS unless others are named."""
    word, tag = (_conllu_column(name) for name in columns or ("FORM", "UPOS"))
    return _sentences(_conllu_lines(path, word, tag, noticed), path)


def _sentences(lines: Iterable[Line], path: Path) -> list[Placed[TaggedSentence]]:
    found: list[Placed[TaggedSentence]] = []
    words: list[str] = []
    tags: list[str] = []
    first: Place | None = None
    for line in (*lines, None):
        if line is not None:
            place, word, tag = line
            first = first or place
            words.append(_not_empty(word, "word", place))
            tags.append(_not_empty(tag, "tag", place))
        elif first:
            found.append(Placed(TaggedSentence(tuple(words), tuple(tags)), first))
            words, tags, first = [], [], None
    if not found:
        raise DataError(
            f"'{path}' has no words. A word and its tag on each line are expected, a blank line between sentences."
        )
    return found


def _not_empty(field: str, what: str, place: Place) -> str:
    if not field.strip():
        raise DataError(f"{place}: the {what} is empty.")
    return field.strip()


# --- plain columns --------------------------------------------------------------------------------------------------


def _column_lines(path: Path, noticed: Noticed) -> Iterator[Line]:
    columns, tabs = 0, False
    for number, line in numbered(path, noticed):
        if not line.strip() or line.startswith(DOCUMENT):
            yield None
            continue
        place = Place(path, number)
        tabs = tabs if columns else "\t" in line
        fields = line.split("\t") if tabs else re.split(r"[ \t]+", line.strip())
        columns = columns or len(fields)
        if len(fields) == 1:
            raise DataError(f"{place}: one column only. A word and its tag are expected, separated by a tab or space.")
        if len(fields) != columns:
            raise DataError(f"{place}: {len(fields)} columns, where the lines before have {columns}.")
        yield place, fields[0], _one_tag(fields[-1], noticed)


def _one_tag(tag: str, noticed: Noticed) -> str:
    """The first of several span tags; a comma may also be a tag of its own."""
    if "," in tag and SPAN_TAGS.fullmatch(tag.strip()):
        noticed.double_tags += 1
        return tag.partition(",")[0]
    return tag


# --- CoNLL-U --------------------------------------------------------------------------------------------------------


def _conllu_lines(path: Path, word: int, tag: int, noticed: Noticed) -> Iterator[Line]:
    for number, line in numbered(path, noticed):
        if not line.strip():
            yield None
        elif not line.startswith("#"):
            fields = line.split("\t")
            place = Place(path, number)
            if len(fields) != len(CONLLU):
                raise DataError(f"{place}: {len(fields)} columns, where CoNLL-U has {len(CONLLU)}, separated by tabs.")
            if WORD_NUMBER.fullmatch(fields[0]):
                yield place, fields[word], fields[tag]
            elif not NO_WORD_NUMBER.fullmatch(fields[0]):
                raise DataError(f"{place}: the ID is '{fields[0]}', where a number is expected, such as 1, 1-2 or 1.1.")


def _conllu_column(name: str) -> int:
    if name.upper() not in CONLLU[1:]:
        raise UsageError(
            f"corpus.columns names '{name}', which is no column of CoNLL-U. Use FORM or LEMMA for the words and UPOS, "
            f"""XPOS or LEMMA for the tags: --set 'corpus.columns=["FORM", "XPOS"]'"""
        )
    return CONLLU.index(name.upper())
