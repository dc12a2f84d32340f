"""Marks of text that another program has cut already: subwords of BPE, SentencePiece or WordPiece, tokens of Moses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from seqlab.wording import counted

SIGNS = ("@@", "▁", "##", " @", "&apos;")  # without any of these, there is no mark
CUTS = {
    "subwords of BPE, which end in @@": re.compile(r"[^\s@]+@@(?= |$)", re.MULTILINE),
    "pieces of SentencePiece, which begin with ▁": re.compile(r"(?:^|(?<=\s))▁[^\s▁]+", re.MULTILINE),
    "pieces of WordPiece, which begin with ##": re.compile(r"(?<=\w )##\w+"),
    "tokens of Moses": re.compile(r"(?<= )@[-/,.]@(?= )|(?:^|(?<= ))&apos;\S*", re.MULTILINE),
}
JOIN = {
    "subwords of BPE, which end in @@": "sed -E 's/@@( |$)//g' FILE > NEW",
    "pieces of SentencePiece, which begin with ▁": "sed -E 's/ //g; s/▁/ /g; s/^ //' FILE > NEW",
    "pieces of WordPiece, which begin with ##": "sed 's/ ##//g' FILE > NEW",
    "tokens of Moses": "detokenizer.perl of Moses",
}
MIN_SHARE = 0.01  # of the lines
NAMED = 3  # marks


class CutText:
    """Counts the lines with marks, while others read the text."""

    def __init__(self, noun: str = "line") -> None:
        self.noun = noun
        self.lines = 0
        self.found: dict[str, int] = {}  # lines, by the kind of mark
        self.marks: dict[str, Counter[str]] = {kind: Counter() for kind in CUTS}

    def watch(self, blocks: Iterable[str]) -> Iterator[str]:
        for block in blocks:
            self.lines += block.count("\n")
            if any(sign in block for sign in SIGNS):
                self._count(block.splitlines())
            yield block

    def read(self, texts: Sequence[str]) -> "CutText":
        """The same of texts that are lines."""
        self.lines += len(texts)
        self._count(texts)
        return self

    def _count(self, lines: Iterable[str]) -> None:
        for line in lines:
            for kind, pattern in CUTS.items() if any(sign in line for sign in SIGNS) else ():
                if marks := pattern.findall(line):
                    self.found[kind] = self.found.get(kind, 0) + 1
                    self.marks[kind].update(marks)

    def notes(self, effect: str = "the tokenizer cuts these pieces again") -> list[str]:
        """What is cut, and what that means; nothing where a few lines have marks."""
        return [
            f"{count:,} of the {counted(self.lines, self.noun)} {'has' if count == 1 else 'have'} {kind}, such as "
            f"{', '.join(repr(mark) for mark, _ in self.marks[kind].most_common(NAMED))}: the text was cut already, is "
            f"read as it is, and {effect}. To join it first: {JOIN[kind]}"
            for kind, count in self.found.items()
            if count >= MIN_SHARE * self.lines
        ]
