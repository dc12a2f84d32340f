"""Texts that are probably not what somebody wrote: with marks of another format, cut off, or in quotes."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from seqlab.data.examples.example import Example, LabeledText, TextPair
from seqlab.data.examples.lines import quote_list
from seqlab.data.subwords import CutText
from seqlab.wording import counted

MARK = re.compile(r"</?[A-Za-z][^<>]{0,200}>|&(?:#\d+|#[xX][\dA-Fa-f]+|[A-Za-z]{2,8});|\\(?:[nrt\"']|u[\dA-Fa-f]{4})")
# without escapes, which look like LaTeX, and with nothing in brackets but a name and attributes, as addresses have none
MARKUP = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]{0,200})?/?>|&(?:#\d+|#[xX][\dA-Fa-f]+|[A-Za-z]{2,8});")
MAY_HAVE_MARK = "<&\\"
MIN_MARKED = 0.01  # the share of texts from which marks are said
MARKS_NAMED = 3
MARKS_COUNTED = 10_000  # different ones, such as links
MIN_CUT, MIN_LENGTH = 3, 100  # texts of the same length, the longest of all, and its characters
MOSTLY = 0.5  # the share of texts that are in quotes; of those that have one length on purpose
CUT_EFFECTS = {
    "target": ["BLEU and other scores are those of the pieces, not of words"],
    "sentence": ["every piece counts as a word that has a tag"],
}
QUOTES = {"'": "'", '"': '"', "`": "`", "“": "”", "‘": "’", "«": "»"}


def odd_texts(examples: Sequence[Example]) -> list[str]:
    """Notes on the inputs, targets and labels of texts."""
    sides: dict[str, list[str]] = {}
    for example in examples:
        if isinstance(example, LabeledText):
            sides.setdefault("text", []).append(example.text)
            sides.setdefault("label", []).append(example.label)
        elif isinstance(example, TextPair):
            sides.setdefault("source", []).append(example.source)
            sides.setdefault("target", []).append(example.target)
        else:
            sides.setdefault("sentence", []).append(example.input)
    notes: list[str] = []
    for side, texts in sides.items():
        notes += _in_quotes(side, texts) if side != "sentence" else []
        notes += CutText(side).read(texts).notes(*CUT_EFFECTS.get(side, ())) if side != "label" else []
        notes += _marked(side, texts) if side != "label" else []
        notes += _cut_off(side, texts) if side not in ("label", "sentence") else []
    return notes


def _in_quotes(side: str, texts: Sequence[str]) -> list[str]:
    found = [text for text in map(str.strip, texts) if len(text) > 2 and QUOTES.get(text[0]) == text[-1]]
    if len(found) <= MOSTLY * len(texts):
        return []
    said = f"{len(found):,} of the {counted(len(texts), side)} are in quotes, such as {quote_list(found[:1])}"
    return [f"{said}, which are read as part of them. Remove the quotes from the file if they are no part"]


def _marked(side: str, texts: Sequence[str]) -> list[str]:
    """A note on tags and entities of HTML, and on escapes of JSON and of programs."""
    found = MarkedTexts(MARK)
    for text in texts:
        found.read(text)
    return found.notes(side, "tags, entities or escapes")


@dataclass
class MarkedTexts:
    """Counts texts with marks of a pattern, one after another."""

    pattern: re.Pattern[str]
    texts: int = 0
    with_marks: int = 0
    marks: Counter[str] = field(default_factory=Counter)

    def read(self, text: str) -> None:
        self.texts += 1
        if any(sign in text for sign in MAY_HAVE_MARK) and (found := self.pattern.findall(text)):
            self.with_marks += 1
            self.marks.update(found if len(self.marks) < MARKS_COUNTED else (one for one in found if one in self.marks))

    def notes(self, side: str, what: str) -> list[str]:
        if not self.with_marks or self.with_marks < MIN_MARKED * self.texts:
            return []
        named = quote_list([mark for mark, _ in self.marks.most_common(MARKS_NAMED)], counts=self.marks)
        have = f"{self.with_marks:,} of the {counted(self.texts, side)} {'has' if self.with_marks == 1 else 'have'}"
        return [f"{have} {what}, such as {named}: they are read as part of the text"]


def _cut_off(side: str, texts: Sequence[str]) -> list[str]:
    """A note on several different texts that are exactly as long as the longest one."""
    lengths = Counter(map(len, set(texts)))
    longest = max(lengths)
    if longest < MIN_LENGTH or not MIN_CUT <= lengths[longest] <= MOSTLY * lengths.total():
        return []
    return [
        f"{counted(lengths[longest], f'different {side}')} have exactly {longest:,} characters, and none has more: did "
        f"a program cut them off there?"
    ]
