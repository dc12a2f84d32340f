"""A tokenizer with a fixed vocabulary."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.tokenization.serialization import check_keys
from seqlab.tokenization.tokenizer import Tokenizer, utf8


class AsciiTokenizer(Tokenizer):
    """The 128 characters of ASCII; anything else is unknown."""

    has_unknown = True
    unknown_reason = ("is not ASCII", "are not ASCII")

    def __init__(self, documents: bool = False):
        super().__init__([bytes([code]) for code in range(128)], documents)

    @classmethod
    def train(cls, chunks: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        return cls(documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name)
        return cls(content["documents"])

    def to_json(self) -> dict[str, Any]:
        return self.header()

    def encode_array(self, text: str) -> np.ndarray:
        utf8(text)
        self.warn_of_unknown(character for character in text if not character.isascii())
        return np.array([min(ord(character), 128) for character in text], dtype=self.dtype)

    def first_token_bytes(self, text: str) -> bytes:
        return utf8(text[:1])
