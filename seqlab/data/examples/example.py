"""Examples of the supervised tasks, and a set of them in splits.

`LabeledText` is many-to-one, `TaggedSentence` aligned many-to-many, `TextPair` unaligned. load.py builds a set from
files or from a built-in generator; the readers of the file formats are beside it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any

from seqlab.data.examples.groups import Groups
from seqlab.metrics.unscored import UNSCORED as UNSCORED


@dataclass(frozen=True)
class LabeledText:
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
    source: str
    target: str

    @property
    def input(self) -> str:
        return self.source


Example = LabeledText | TaggedSentence | TextPair


@dataclass(frozen=True)
class Examples:
    """Examples in splits: `train` and `validation`, often `test`; or only `whole`, to be scored."""

    name: str
    splits: Mapping[str, Sequence[Example]]
    rule: str  # how the splits were made, in words
    about: str = ""
    notes: tuple[str, ...] = ()  # for the log
    groups: Groups | None = None
    columns: tuple[tuple[str, str], ...] = ()  # those of tables that were read: input and answer
    skipped: int = 0  # rows, sentences or pairs that could not be read

    def facts(self) -> dict[str, Any]:
        """Sizes, fingerprint and the split rule, for config.json."""
        return {
            "characters": sum(map(self.characters_of, self.splits)),
            "fingerprint": self.fingerprint,
            "examples": {split: len(examples) for split, examples in self.splits.items()},
            "splits": {
                split: {"characters": self.characters_of(split), "fingerprint": self.fingerprint_of(split)}
                for split in self.splits
            },
            "rule": self.rule,
            "columns": [list(pair) for pair in self.columns],
            "notes": list(self.notes),
        }

    def characters_of(self, split: str) -> int:
        """Of the inputs of one split."""
        return sum(len(example.input) for example in self.splits[split])

    def fingerprint_of(self, split: str) -> str:
        """SHA-256 of one split alone."""
        return self._fingerprints[split]

    @cached_property
    def _fingerprints(self) -> dict[str, str]:
        digests = {split: hashlib.sha256() for split in self.splits}
        for split, digest in digests.items():
            for row in self.content(split):
                digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        return {split: digest.hexdigest() for split, digest in digests.items()}

    def content(self, split: str) -> Iterator[tuple[Any, ...]]:
        """All that a split contains, for its fingerprint."""
        return map(astuple, self.splits[split])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all examples in their splits."""
        digest = hashlib.sha256()
        for split in self.splits:
            for row in self.content(split):
                digest.update(json.dumps([split, *row], ensure_ascii=False).encode() + b"\n")
        return digest.hexdigest()
