"""Tagged words without a tag: how many are not scored; and of a file whose column of tags is empty, or has the
same tag everywhere, which other column has tags, and how to read it."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from seqlab.data.alike import NUMBER
from seqlab.data.examples.example import UNSCORED
from seqlab.data.examples.lines import LocatedExamples, quote_list, suffix
from seqlab.data.file_layout import SAMPLE_BYTES, SPAN_TAG
from seqlab.data.files import read_beginning
from seqlab.data.new_files import command_on, new_file
from seqlab.wording import counted

BRACKETED = re.compile(r"-|(\([^()*\s]+)*\*?\)*")  # (PERSON* opens a span, *) closes it, as in CoNLL-2012
OTHERS, BRACKETS, SPANS = range(3)
# SPAN_TAG, of which awk knows no \\S, and the marks of spans in brackets
TAGS_IN_AWK = {SPANS: "/^(O|[BIESLUM][-_].+)$/", BRACKETS: "/[(*)]/"}
MAX_TYPES = 5  # in a note
LEAST_REPEATED = 4  # words, on average, that have a tag
CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


def unscored_words(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """A note on words that have the mark of an unspecified value instead of a tag."""
    tags = [tag for examples in splits.values() for located in examples for tag in located.example.tags]
    if not (unscored := tags.count(UNSCORED)):
        return []
    are = "is tagged '_': it is" if unscored == 1 else "are tagged '_': they are"
    return [f"{unscored:,} of the {counted(len(tags), 'word')} {are} read, but neither trained on nor scored"]


def unmarked_types_note(sentences: Sequence[Sequence[str]]) -> list[str]:
    """A note on types of names without B- or I-: most words are O, as words between names are. Other sets of tags, such
    as parts of speech, have no O, or few."""
    tags = Counter(tag for sentence in sentences for tag in sentence if tag != UNSCORED)
    outside = tags.pop("O", 0)
    if not tags or outside <= tags.total() or any(map(SPAN_TAG.fullmatch, tags)):
        return []
    types = [tag for tag, _ in tags.most_common()]
    have = "has no B- or I- before it" if len(types) == 1 else "have no B- or I- before them"
    return [
        f"tags are predicted word by word, not as spans: {quote_list(types, MAX_TYPES)} {have}, so the score is the "
        f"accuracy over all words, {outside / (outside + tags.total()):.0%} of which are 'O', and no entity F1. Write "
        f"'B-{types[0]}' for the first word of a name and 'I-{types[0]}' for its others, and entity F1 is computed"
    ]


def where_tags_are(path: Path, found: Collection[str] = ()) -> str:
    """What to do to read another column as tags; nothing if no other has content. `found` are the tags of the column
    that is read."""
    if not path.is_file():  # a built-in corpus
        return ""
    if found:
        return _where_spans_are(path)
    lines = [line for line in read_beginning(path, SAMPLE_BYTES)[0] if line.strip() and not line.startswith("#")]
    rows = [line.split("\t") for line in lines if line.count("\t") > 1]
    if not rows or len({len(row) for row in rows}) > 1:
        return ""
    empty = {UNSCORED, ""}
    filled = [place for place in range(1, len(rows[0])) if 2 * sum(row[place] not in empty for row in rows) > len(rows)]
    if len(rows[0]) == len(CONLLU) and rows[0][0].isdigit():
        tags = [CONLLU[place] for place in filled if CONLLU[place] in ("UPOS", "XPOS")]
        named = suffix(path) == ".conllu"
        rename = "" if named else " It has the ten columns of CoNLL-U: give it a name that ends in .conllu."
        option = f"""--set 'corpus.columns=["FORM", "{tags[0]}"]'""" if tags else ""
        return f" There are tags in {' and '.join(tags)}.{rename} To read them: {option}" if tags else ""
    if not filled:
        return ""
    number = filled[-1] + 1
    # two columns are too few to tell a comment from a word; a word may begin with #, and has all columns
    program = f"NF == {len(rows[0])} {{print $1, ${number}; next}} !/^#/"
    command = command_on(path, rf"awk -F '\t' -v OFS='\t' '{program}'")
    said = f" Column {number} has values such as '{rows[0][number - 1]}'. To read them as tags"
    return f"{said}: {command} > {new_file('.conll')}"


def _where_spans_are(path: Path) -> str:
    """The same for a file whose last column has the same tag everywhere, as that of nested spans may: where another one
    has span tags, or else other tags."""
    lines = [line for line in read_beginning(path, SAMPLE_BYTES)[0] if line.strip() and not line.startswith("#")]
    tabs = 2 * sum("\t" in line for line in lines) > len(lines)
    rows = [line.split("\t") if tabs else line.split() for line in lines]
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    columns = [*zip(*(row for row in rows if len(row) == width), strict=True)]
    others = [other for number, column in enumerate(columns[1:-1], 2) if (other := _tags_in(number, column))]
    if not others:
        return ""
    rank, number, what, tags = max(others)
    # shortened lines may have as many columns as a comment, which is then read as a word
    tagged = f"${number} !~ {TAGS_IN_AWK[rank]}" if rank else f"NF != {width}"
    wider = f"NF > {number}" if rank == BRACKETS else f"NF == {width}"  # CoNLL-2012 has as many columns as predicates
    separated = r"-F '\t' " if tabs else ""
    program = f"/^#/ && {tagged} {{next}} {wider} {{NF = {number}}} {{print}}"
    command = command_on(path, rf"awk {separated}-v OFS='\t' '{program}'")
    return (
        f" Its tags are read from the last column, {width}, and column {number} has {what} such as '{tags[0]}'. To "
        f"read these: {command} > {new_file('.conll')}"
    )


def _tags_in(number: int, column: Sequence[str]) -> tuple[int, int, str, list[str]] | None:
    """How surely a column has tags, span tags before others; its number, what it has, and which; None for no tags."""
    different = {*column}
    for rank, tag, nothing in ((SPANS, SPAN_TAG, {"O"}), (BRACKETS, BRACKETED, {"*", "-", ""})):
        if all(map(tag.fullmatch, column)) and (tags := sorted(different - nothing)):
            return rank, number, "span tags", tags
    numbers = all(map(NUMBER.fullmatch, column))
    few = 1 < len(different) <= max(2, len(column) // LEAST_REPEATED)
    return (OTHERS, number, "values", sorted(different)) if few and not numbers else None
