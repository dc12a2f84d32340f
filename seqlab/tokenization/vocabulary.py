"""The vocabulary of a run: its tokenizers and labels, all learned from the training split."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from seqlab.config import TokenizerSettings, VocabSizes
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.wording import counted


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


def vocabulary_in_words(vocabulary: Vocabulary, settings: TokenizerSettings) -> str:
    """The size of the vocabulary, or of that of each side."""
    size = size_in_words(vocabulary.tokenizer, settings)
    if vocabulary.target_tokenizer is None or vocabulary.shared:
        return size
    return f"{size}, of targets {size_in_words(vocabulary.target_tokenizer, settings)}"


def size_in_words(tokenizer: Tokenizer, settings: TokenizerSettings) -> str:
    """'bpe vocabulary of 368', what `vocab_size` counts of it, where that is another number, and what it left out."""
    wanted, ordinary = settings.option("vocab_size", None), tokenizer.ordinary_size
    size = f"{tokenizer.name} vocabulary of {tokenizer.vocab_size:,}"
    special = tokenizer.vocab_size - ordinary
    if wanted is None:
        return size
    notes = [f"{ordinary:,} and {counted(special, 'special token')}"] * (special > 0)
    if ordinary < wanted:
        notes.append(f"fewer than vocab_size={wanted:,}: the text it learned from gives no more")
    if tokenizer.rarer:
        notes.append(f"{counted(tokenizer.rarer, 'rarer word')} left out by vocab_size")
    return f"{size} ({'; '.join(notes)})" if notes else size


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Each label once: numbers by value, words alphabetically, with O of span tags first."""
    distinct = set(labels)
    if all(re.fullmatch(r"-?[0-9]{1,18}", label) for label in distinct):
        return tuple(sorted(distinct, key=lambda label: (int(label), label)))
    return tuple(sorted(distinct, key=lambda label: (label != "O", label)))
