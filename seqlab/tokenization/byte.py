"""The byte tokenizer: the 256 bytes of UTF-8, so that nothing has to be learnt and nothing is unknown."""

from collections.abc import Iterable
from typing import Any, Self, final

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.tokenization.serialization import check_keys
from seqlab.tokenization.tokenizer import Tokenizer, utf8


@final
class ByteTokenizer(Tokenizer):
    name = "byte"
    can_meet_unknown = False

    def __init__(self, documents: bool = False):
        super().__init__([bytes([value]) for value in range(256)], documents)

    @classmethod
    def train(cls, pieces: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        """Nothing is learnt: the pieces are not read."""
        return cls(documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name)
        return cls(content["documents"])

    def to_json(self) -> dict[str, Any]:
        return self.header()

    def encode(self, text: str) -> np.ndarray:
        return np.frombuffer(utf8(text), dtype=np.uint8).astype(self.dtype)

    def first(self, text: str) -> bytes:
        return utf8(text[:1])[:1]
