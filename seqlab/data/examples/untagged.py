"""Tagged words without a tag: how many are not scored; and of a file whose column of tags is empty, which other column
has tags, and how to read it."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from seqlab.data.examples.example import UNSCORED
from seqlab.data.examples.lines import LocatedExamples, suffix
from seqlab.data.file_layout import SAMPLE_BYTES
from seqlab.data.files import read_beginning
from seqlab.data.new_files import new_file
from seqlab.wording import counted

CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


def unscored_words(splits: Mapping[str, LocatedExamples]) -> list[str]:
    """A note on words that have the mark of an unspecified value instead of a tag."""
    tags = [tag for examples in splits.values() for located in examples for tag in located.example.tags]
    if not (unscored := tags.count(UNSCORED)):
        return []
    are = "is tagged '_': it is" if unscored == 1 else "are tagged '_': they are"
    return [f"{unscored:,} of the {counted(len(tags), 'word')} {are} read, but neither trained on nor scored"]


def where_tags_are(path: Path) -> str:
    """What to do to read another column as tags; nothing if no other has content."""
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
    cut = f"cut -f 1,{filled[-1] + 1} {shlex.quote(str(path))} > {new_file('.conll')}"
    return f" Column {filled[-1] + 1} has values such as '{rows[0][filled[-1]]}'. To read them as tags: {cut}"
