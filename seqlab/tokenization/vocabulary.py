"""The vocabulary of a run: its tokenizers and labels, all learned from the training split."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from seqlab.config import VocabSizes
from seqlab.tokenization.tokenizer import Tokenizer


@dataclass(frozen=True)
class Vocabulary:
    """A task sets what it needs. `target_tokenizer` is `tokenizer` itself if both sides share a vocabulary."""

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
    def shared(self) -> bool:
        """Whether source and target have one tokenizer."""
        return self.target_tokenizer is self.tokenizer

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two that encode alike; the tokenizer's own if there is nothing else."""
        if self.target_tokenizer is None and self.char_tokenizer is None and not self.labels:
            return self.tokenizer.fingerprint
        tokenizers = (self.tokenizer, self.target_tokenizer, self.char_tokenizer)
        fingerprints = [tokenizer.fingerprint if tokenizer else None for tokenizer in tokenizers]
        return hashlib.sha256(json.dumps([fingerprints, self.labels]).encode()).hexdigest()

    def label_ids(self) -> dict[str, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def extra_tokenizers(self) -> dict[str, Tokenizer]:
        """The tokenizers besides the first, by the name of their file; a shared one is saved once."""
        extra = {"target": None if self.shared else self.target_tokenizer, "characters": self.char_tokenizer}
        return {name: tokenizer for name, tokenizer in extra.items() if tokenizer is not None}


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Each label once: numbers by value, words alphabetically, with O of span tags first."""
    distinct = set(labels)
    if all(re.fullmatch(r"-?[0-9]{1,18}", label) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (int(label), label)))
    return tuple(sorted(distinct, key=lambda label: (label != "O", label)))
