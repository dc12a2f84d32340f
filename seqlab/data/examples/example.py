"""Labelled examples: what each task reads, and a set of them in parts.

`Labelled` is many-to-one, `Tagged` is aligned many-to-many, `Pair` is unaligned. `opening.py` makes a set from files or
from a built-in generator; the readers of the formats stand beside it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field


@dataclass(frozen=True)
class LabeledText:
    """A text and its label."""

    text: str
    label: str

    @property
    def input(self) -> str:
        return self.text


@dataclass(frozen=True)
class TaggedSentence:
    """Words and a tag for each; a word tagged `UNSCORED` is read and neither learnt from nor scored."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def input(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class Pair:
    """A text and what it is to become."""

    source: str
    target: str

    @property
    def input(self) -> str:
        return self.source


Example = LabeledText | TaggedSentence | Pair
UNSCORED = "_"  # what CoNLL-U writes where nothing is said


@dataclass(frozen=True)
class Examples:
    """Examples in parts: `train` and `validation`, often `test`; or only `whole`, to be scored."""

    name: str
    splits: Mapping[str, Sequence[Example]]
    rule: str  # how the parts came about, in words
    about: str = ""
    notes: tuple[str, ...] = field(default=())  # what was noticed while reading, to be said aloud

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all examples in their parts."""
        digest = hashlib.sha256()
        for part, examples in self.splits.items():
            for example in examples:
                digest.update(json.dumps([part, *astuple(example)], ensure_ascii=False).encode() + b"\n")
        return digest.hexdigest()
