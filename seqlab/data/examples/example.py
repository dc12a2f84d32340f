"""Examples of the supervised tasks, and a set of them in splits.

`LabeledText` is many-to-one, `TaggedSentence` aligned many-to-many, `TextPair` unaligned. load.py builds a set from
files or from a built-in generator; the readers of the file formats are beside it.
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
    """Words and one tag each; a word tagged `UNSCORED` is input only, neither trained on nor scored."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def input(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True)
class TextPair:
    """A source text and its target."""

    source: str
    target: str

    @property
    def input(self) -> str:
        return self.source


Example = LabeledText | TaggedSentence | TextPair
UNSCORED = "_"  # CoNLL-U's mark for an unspecified value


@dataclass(frozen=True)
class Examples:
    """Examples in splits: `train` and `validation`, often `test`; or only `whole`, to be scored."""

    name: str
    splits: Mapping[str, Sequence[Example]]
    rule: str  # how the splits were made, in words
    about: str = ""
    notes: tuple[str, ...] = field(default=())  # for the log

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all examples in their splits."""
        digest = hashlib.sha256()
        for split, examples in self.splits.items():
            for example in examples:
                digest.update(json.dumps([split, *astuple(example)], ensure_ascii=False).encode() + b"\n")
        return digest.hexdigest()
