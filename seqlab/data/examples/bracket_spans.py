"""Span tags as brackets, as CoNLL-2005 and CoNLL-2012 write them: (ORG* opens a span, *) closes it, (PER) is one word.

They fit no scheme of span tags, so each is a class of its own: a note says so, and how to write them in BIO."""

import re
import shlex
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from seqlab.data.examples.example import UNSCORED
from seqlab.data.examples.lines import quote_list
from seqlab.data.examples.tag_schemes import OUTSIDE
from seqlab.data.new_files import command_on, new_file
from seqlab.wording import counted

NAME = r"[^\s()*]+"
BRACKETS = re.compile(rf"(?:\({NAME})*\*(?:(?:{NAME})?\))*|\({NAME}\)")
TAGS_NAMED = 4
# the outermost span of each word; lines that are no words stay as they are
TO_BIO = (
    r'{sub(/\r$/, "")} /^[ \t]*$/ {d = 0} NF != COLUMNS || (/^#/ && $TAG !~ /[(*)]/) {print; next} '
    r'{t = $TAG; a = gsub(/\(/, "(", t); z = gsub(/\)/, ")", t); r = d > 0 ? "I-" s : t == "_" ? t : "O"; '
    r'if (d < 1 && a) {s = substr(t, 2); sub(/[(*)].*/, "", s); r = "B-" s} d += a - z; print $WORD, r}'
)


def bracket_spans(path: Path, rows: Sequence[Sequence[str]], word: int, tag: int, tabs: bool) -> list[str]:
    """A note if all tags are parts of brackets; `word` and `tag` are the places of both in the rows."""
    tags = [fields[tag].strip() for fields in rows]
    distinct = [name for name in dict.fromkeys(tags) if name not in (OUTSIDE, UNSCORED)]
    joined = "".join(distinct)
    if "(" not in joined or "*" not in joined or not all(map(BRACKETS.fullmatch, distinct)):
        return []
    open_after = accumulate(name.count("(") - name.count(")") for name in tags)
    is_nested = any(after + name.count(")") > 1 for after, name in zip(open_after, tags, strict=True))
    outer = ", of which it keeps the outermost of several around a word" if is_nested else ""
    places = {"COLUMNS": len(rows[0]), "WORD": word + 1, "TAG": tag % len(rows[0]) + 1}
    program = re.sub("|".join(places), lambda match: str(places[match[0]]), TO_BIO)
    separated = r"-F '\t' " if tabs else ""
    command = command_on(path, rf"awk {separated}-v OFS='\t' {shlex.quote(program)}")
    shown = quote_list([name for name in distinct if name != "*"], TAGS_NAMED)
    return [
        f"warning: {path.name} marks spans by brackets, as CoNLL-2012 does ({shown}): each of these "
        f"{counted(len(distinct), 'tag')} is taken as a class of its own, and no spans are scored. To write the spans "
        f"in BIO{outer}: {command} > {new_file('.conll')}"
    ]
