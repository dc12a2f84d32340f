"""The word tokenizer: words and punctuation with the space before them, the most frequent ones kept.

Joining the pieces of a text gives the text back, so only words that were not kept (and case, where `lowercase` is
set) are lost.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np
from pydantic import Field

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError
from seqlab.tokenization.serialization import check_keys, checked_bool, checked_symbols
from seqlab.tokenization.tokenizer import Tokenizer, cut_pieces, utf8

LARGEST = 2**24
CHUNK = 1 << 16  # characters cut into words at once, which bounds the memory
PIECE = re.compile(r" ?\w+(?:['’]\w+)*| ?[^\w\s]|\s")


class WordSettings(TokenizerSettings):
    lowercase: bool = Field(default=False, description="read capital letters as small ones")
    vocab_size: int = Field(default=20_000, ge=1, le=LARGEST, description="words and punctuation marks to keep")


@final
class WordTokenizer(Tokenizer):
    name = "word"
    can_meet_unknown = True
    absence = (
        "is not among the words kept from the training text",
        "are not among the words kept from the training text",
    )

    def __init__(self, words: Sequence[str], lowercase: bool = False, documents: bool = False):
        super().__init__([word.encode() for word in words], documents)
        self.words = tuple(words)
        self.lowercase = lowercase
        self._ids = {word: number for number, word in enumerate(words)}

    @classmethod
    def train(cls, pieces: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        assert isinstance(settings, WordSettings)
        counts: Counter[str] = Counter()
        for piece in pieces:
            counts.update(_words(piece, settings.lowercase))
        return cls._of_counts(counts, settings, documents)

    @classmethod
    def of_words(cls, words: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        """Learnt from words that are given as such, whatever they are made of."""
        assert isinstance(settings, WordSettings)
        return cls._of_counts(Counter(_cased(words, settings.lowercase)), settings, documents)

    @classmethod
    def _of_counts(cls, counts: Counter[str], settings: WordSettings, documents: bool) -> Self:
        if not counts:
            raise DataError("the training text is empty: a word tokenizer needs at least one word.")
        by_frequency = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(by_frequency[: settings.vocab_size], settings.lowercase, documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name, "lowercase", "words")
        words = checked_symbols(content, "words", most=LARGEST)
        return cls(words, checked_bool(content, "lowercase"), content["documents"])

    def to_json(self) -> dict[str, Any]:
        return {**self.header(), "lowercase": self.lowercase, "words": list(self.words)}

    def encode(self, text: str) -> np.ndarray:
        parts = [np.empty(0, dtype=self.dtype)]
        met: dict[str, None] = {}
        for chunk in cut_pieces([text], CHUNK):
            words = _words(chunk, self.lowercase)
            parts.append(np.array([self._ids.get(word, self.unknown) for word in words], dtype=self.dtype))
            if (parts[-1] == self.unknown).any():
                met |= dict.fromkeys(word for word in words if word not in self._ids)
        self._warn_of(met)
        return np.concatenate(parts)

    def ids_of(self, words: Sequence[str]) -> np.ndarray:
        """One id for each of these words, as they are given."""
        return np.array([self._ids.get(word, self.unknown) for word in _cased(words, self.lowercase)], self.dtype)

    def knows(self, word: str) -> bool:
        return _cased([word], self.lowercase)[0] in self._ids

    def first(self, text: str) -> bytes:
        match = PIECE.match(text)
        return utf8(match.group()) if match else b""


def _words(text: str, lowercase: bool) -> list[str]:
    if not text.isascii():
        utf8(text)  # refuses what is not a character
    return _cased(PIECE.findall(text), lowercase)


def _cased(words: Iterable[str], lowercase: bool) -> list[str]:
    return [word.lower() for word in words] if lowercase else list(words)
