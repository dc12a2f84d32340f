"""All the symbols of a run, learnt from its training part: those of the text, of the target, of words, the labels."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seqlab.config import VocabSizes
from seqlab.tokenization.tokenizer import Tokenizer


@dataclass(frozen=True)
class Vocabulary:
    """Each task has the parts that it needs; `target` is `text` itself where both sides share a vocabulary."""

    tokenizer: Tokenizer
    target_tokenizer: Tokenizer | None = None
    char_tokenizer: Tokenizer | None = None
    labels: tuple[str, ...] = ()

    @property
    def sizes(self) -> VocabSizes:
        return VocabSizes(
            self.tokenizer.vocab_size,
            self.target_tokenizer.vocab_size if self.target_tokenizer else 0,
            self.char_tokenizer.vocab_size if self.char_tokenizer else 0,
            len(self.labels),
            self.tokenizer.unknown,
        )

    @property
    def joint(self) -> bool:
        return self.target_tokenizer is self.tokenizer

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two that encode alike; that of the tokenizer where there is nothing else."""
        if self.target_tokenizer is None and self.char_tokenizer is None and not self.labels:
            return self.tokenizer.fingerprint
        prints = [
            one.fingerprint if one else None for one in (self.tokenizer, self.target_tokenizer, self.char_tokenizer)
        ]
        return hashlib.sha256(json.dumps([prints, self.labels]).encode()).hexdigest()

    def label_ids(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def stored(self) -> dict[str, Tokenizer]:
        """The tokenizers beside the first, by the name of their file; a shared one is kept once."""
        own = {"target": None if self.joint else self.target_tokenizer, "characters": self.char_tokenizer}
        return {name: one for name, one in own.items() if one is not None}


def labels_in_order(labels: Sequence[Any]) -> tuple[str, ...]:
    """Each once: numbers by their value, words by the alphabet, O of spans first."""
    distinct = set(labels)
    if all(re.fullmatch(r"-?[0-9]{1,18}", label) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (int(label), label)))
    return tuple(sorted(distinct, key=lambda label: (label != "O", label)))
