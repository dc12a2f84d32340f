"""Words with their tags beside them, or on another side of a line or pair of files: how to write a word and its tag on
each line."""

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from seqlab.data.file_layout import SPAN_TAG
from seqlab.data.new_files import command_on, new_file

MIN_LINES = 4
FITTING = 0.95  # the share of lines with a tag for each word
FITTING_WORDS = 0.9  # the share of words that have a tag
LEAST_REPEATED = 4  # words, on average, that have a tag in small letters, which may be a word as well

SYMBOLS = r"[^\w\s]{1,3}|-[A-Z]+-"
CAPITAL_TAG = r"[A-Z][A-Z0-9$|+*-]*|[BIESLU][-_]\w+"  # NNP, B-PER
SMALL_TAG = r"[a-z][a-z0-9$|+*-]*"  # np-tl, as in the Brown corpus
SPAN = "(O|[BIESLU][-_][^ ]*)"  # for sed, too: an underscore may be within it
CONSTANT = re.compile(r"[A-Z\d_]+")  # the name of one in a program
ENDS = ("BOS", "EOS")  # of a sentence: ATIS has its intent as the tag of EOS
PAIR_LINES = (
    r'{sub(/\r$/, ""); n = split($1, w, " "); m = split($2, t, " "); for (i = 1; i <= (n > m ? n : m); i++) '
    r'SKIPprint w[i] "\t" t[i]; print ""}'
)


def words_with_tags(lines: Sequence[str], name: str) -> tuple[str, str] | None:
    """What lines of words with tags look like, as Mary/NNP, Mary_NNP, Mary|NNP or Mary/np, and the command that writes
    columns."""
    words = [word for line in lines for word in line.split()]
    if len(lines) < MIN_LINES or len(words) < 2 * len(lines):
        return None
    if 2 * sum(CONSTANT.fullmatch(word) is not None for word in words) > len(words):
        return None
    kinds = (("/", CAPITAL_TAG), ("_", CAPITAL_TAG), ("|", CAPITAL_TAG), ("/", SMALL_TAG))
    return next((form for mark, tag in kinds if (form := _words_tagged_by(mark, tag, words, name))), None)


def _words_tagged_by(mark: str, letters: str, words: Sequence[str], name: str) -> tuple[str, str] | None:
    tagged = [word for word in words if re.fullmatch(rf"\S+[{mark}](?:{letters}|{SYMBOLS})", word)]
    with_letters = [word for word in words if re.search(rf"\w[{mark}](?:{letters})$", word)]
    if len(tagged) < FITTING_WORDS * len(words) or 2 * len(with_letters) < len(words):
        return None
    if letters == SMALL_TAG and LEAST_REPEATED * len({word.rpartition(mark)[2] for word in tagged}) > len(tagged):
        return None
    are_spans = all(re.search(f"[{mark}]{SPAN}$", word) for word in tagged)
    tag = SPAN if mark == "_" and are_spans else f"([^{mark}]*)"
    command = rf"sed 's/ *$//; s/  */\n/g; s/$/\n/' {name} | sed -E 's:[{mark}]{tag}$:\t\1:' > {new_file('.conll')}"
    return f"words with their tags, such as {with_letters[0]}", f"To learn to tag: {command}"


def tags_beside_sentences(lines: Sequence[str], name: str) -> tuple[str, str] | None:
    """The same for lines of a sentence, a tab, and as many tags."""
    sides = [line.split("\t") for line in lines]
    if not all(len(fields) == 2 for fields in sides):
        return None
    sentences, tags = ([fields[place] for fields in sides] for place in (0, 1))
    if not _are_tags_of(sentences, tags):
        return None
    advice = _command(sentences, lambda awk: f"{awk} {name}")
    return "sentences, each with a tab and a tag for each of its words", f"To learn to tag: {advice}"


def tags_of_other_file(paths: Sequence[Path], sides: Sequence[Sequence[str]]) -> str | None:
    """A note on two files of which the second has a tag for each word of the first, line by line."""
    if len(sides[0]) != len(sides[1]) or not _are_tags_of(*sides):
        return None
    files = [f"<({command_on(path, 'cat')})" if path.suffix == ".gz" else shlex.quote(str(path)) for path in paths]
    advice = _command(sides[0], lambda awk: f"paste {files[0]} {files[1]} | {awk}")
    return f"warning: {paths[1].name} has a tag for each word of {paths[0].name}. To learn to tag: {advice}"


def _are_tags_of(sentences: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether nearly all lines have as many span tags as words; the last word of a line may have another tag."""
    pairs = [(words.split(), given.split()) for words, given in zip(sentences, tags, strict=True) if words.strip()]
    spans = [tag for words, given in pairs for tag in given[: -1 if words[-1] == ENDS[1] else None]]
    one_word_each = sum(len(words) for words, _ in pairs) < 2 * len(pairs)  # columns already
    if len(pairs) < MIN_LINES or one_word_each or {*spans} <= {"O"} or not all(map(SPAN_TAG.fullmatch, spans)):
        return False
    return sum(len(words) == len(given) for words, given in pairs) >= FITTING * len(pairs)


def _command(sentences: Sequence[str], on_files: Callable[[str], str]) -> str:
    """A word that has no partner is written as well, for reading names the line."""
    marked = {word for sentence in sentences for word in sentence.split()[:: max(1, len(sentence.split()) - 1)]}
    has_ends = {*ENDS} <= marked
    program = PAIR_LINES.replace("SKIP", f"if (w[i] !~ /^({'|'.join(ENDS)})$/) " if has_ends else "")
    command = on_files(rf"awk -F '\t' {shlex.quote(program)}")
    without = f"; it leaves out {' and '.join(ENDS)} with their tags" if has_ends else ""
    return f"{command} > {new_file('.conll')}{without}"
