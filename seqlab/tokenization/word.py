"""The word tokenizer: the most frequent words and punctuation marks, each with the space before it.

The words of a text joined are the text. Decoding loses only rare words, and case if `lowercase` is set. With
`split = "spaces"`, a word is whatever stands between spaces, as in texts that are published as tokens: "<unk>" is a
word like others, the newline is the end of a sentence, and decoding puts one space before every word.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, Self, final, get_args

import numpy as np
from pydantic import Field

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError
from seqlab.tokenization.letters import LETTER, MARK
from seqlab.tokenization.serialization import check_bool, check_keys, check_tokens, quote
from seqlab.tokenization.spelling import Speller
from seqlab.tokenization.tokenizer import Ids, Tokenizer, chunk_text, utf8

MAX_VOCAB_SIZE = 2**24
CHUNK = 1 << 16  # characters split into words at once, which bounds the memory


def word_pattern(letter: str = LETTER, space: str = r"\s") -> str:
    """`letter` and `space`: the insides of character classes."""
    return rf" ?[{letter}]+(?:['’][{letter}]+)*| ?[^{letter}{space}][{MARK}]*|[{space}]"


WORD = re.compile(word_pattern())
BETWEEN_SPACES = re.compile(r"[^\S\n]*(\S+|\n)")  # a word or the end of a line, after any other spaces
Split = Literal["words", "spaces"]
SPACES = "not kept (tokenizer.split=spaces)"


class WordSettings(TokenizerSettings):
    lowercase: bool = Field(default=False, description="lowercase the text")
    vocab_size: int = Field(default=20_000, ge=1, le=MAX_VOCAB_SIZE, description="words and punctuation marks to keep")
    split: Split = Field(
        default="words", description="words and punctuation marks, or whatever stands between spaces and newlines"
    )


@final
class WordTokenizer(Tokenizer):
    Settings = WordSettings
    name = "word"
    has_unknown = True
    unknown_reason = ("is not in the vocabulary", "are not in the vocabulary")

    def __init__(self, words: Sequence[str], lowercase: bool = False, documents: bool = False, split: Split = "words"):
        super().__init__([word.encode() for word in words], documents)
        self.words = tuple(words)
        self.lowercase = lowercase
        self.split: Split = split
        self._ids = {word: token for token, word in enumerate(words)}
        how = {"read in lower case (tokenizer.lowercase)": lowercase, f"spaces that are {SPACES}": split == "spaces"}
        self.changes = " or ".join(what for what, applies in how.items() if applies)

    @classmethod
    def train(cls, chunks: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        assert isinstance(settings, WordSettings)
        words = (word for chunk in chunks for word in _split_words(chunk, settings.split))
        return cls.train_on_words(words, settings, documents)

    @classmethod
    def train_on_words(cls, words: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        """Learn the vocabulary from words that are split already and may contain any characters."""
        assert isinstance(settings, WordSettings)
        counts = Counter(map(str.lower, words) if settings.lowercase else words)
        if not counts:
            raise DataError("the training text is empty: a word tokenizer needs at least one word.")
        by_frequency = sorted(counts, key=lambda word: (-counts[word], word))
        trained = cls(by_frequency[: settings.vocab_size], settings.lowercase, documents, settings.split)
        trained.rarer = len(by_frequency) - trained.ordinary_size
        return trained

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name, "lowercase", "words", *(["split"] if "split" in content else []))
        split = content.get("split", "words")
        if split not in get_args(Split):
            raise DataError(f"its 'split' is {quote(split)}, expected {' or '.join(get_args(Split))}")
        words = check_tokens(content, "words", max_count=MAX_VOCAB_SIZE)
        return cls(words, check_bool(content, "lowercase"), content["documents"], split)

    def to_json(self) -> dict[str, Any]:
        split = {} if self.split == "words" else {"split": self.split}
        return {**self.header(), "lowercase": self.lowercase, **split, "words": list(self.words)}

    def encode_array(self, text: str) -> np.ndarray:
        ids = [np.empty(0, dtype=self.dtype)]
        unknown: dict[str, None] = {}
        for chunk in chunk_text([text], CHUNK):
            words = self._cased(_split_words(chunk, self.split))
            ids.append(self._look_up(words))
            if (ids[-1] == self.unknown).any():
                unknown |= dict.fromkeys(word for word in words if word not in self._ids)
        self.warn_of_unknown(unknown)
        return np.concatenate(ids)

    def count_changed(self, text: str) -> int:
        count = sum(text.count(letter) for letter in set(text) if letter.lower() != letter) if self.lowercase else 0
        if self.split == "words":
            return count
        found = [(match[0].removesuffix(match[1]), match[1]) for match in BETWEEN_SPACES.finditer(text)]
        kept = sum(spaces[-1:] == " " and word != "\n" for spaces, word in found)  # decoding writes one before a word
        return count + sum(len(spaces) for spaces, _ in found) - kept

    def count_added_spaces(self, text: str) -> int:
        if self.split == "words":
            return 0
        return sum(match[0] == match[1] != "\n" for match in BETWEEN_SPACES.finditer(text))

    def spelling_nats(self, text: str, ids: Ids) -> np.ndarray:
        """By the characters of the words that the vocabulary has."""
        words = self._cased(_split_words(text, self.split))
        return np.array([self._speller.nats(word) for word in words if word not in self._ids], np.float64)

    @cached_property
    def _speller(self) -> Speller:
        return Speller(self.words)

    def encode_words(self, words: Sequence[str]) -> np.ndarray:
        """One id per word, without splitting the words any further."""
        return self._look_up(self._cased(words))

    def knows(self, word: str) -> bool:
        return self._cased([word])[0] in self._ids

    def _cased(self, words: Sequence[str]) -> Sequence[str]:
        return [word.lower() for word in words] if self.lowercase else words

    def _look_up(self, words: Sequence[str]) -> np.ndarray:
        return np.array([self._ids.get(word, self.unknown) for word in words], self.dtype)

    def first_token_bytes(self, text: str) -> bytes:
        match = (WORD if self.split == "words" else BETWEEN_SPACES).match(text)
        return utf8(match.group()) if match else b""


def _split_words(text: str, split: Split) -> list[str]:
    if not text.isascii():
        utf8(text)  # raises DataError for half a surrogate pair
    if split == "words":
        return WORD.findall(text)
    return [word if word == "\n" else f" {word}" for word in BETWEEN_SPACES.findall(text)]
