"""The byte tokenizer: the 256 bytes of UTF-8. It needs no training and has no unknown token."""

from collections.abc import Iterable
from typing import Any, Self, final

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.tokenization.serialization import check_keys
from seqlab.tokenization.tokenizer import Tokenizer, utf8


@final
class ByteTokenizer(Tokenizer):
    name = "byte"
    has_unknown = False

    def __init__(self, documents: bool = False):
        super().__init__([bytes([value]) for value in range(256)], documents)

    @classmethod
    def train(cls, chunks: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        """The chunks are not read: the vocabulary is fixed."""
        return cls(documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name)
        return cls(content["documents"])

    def to_json(self) -> dict[str, Any]:
        return self.header()

    def encode_array(self, text: str) -> np.ndarray:
        return np.frombuffer(utf8(text), dtype=np.uint8).astype(self.dtype)

    def first_token_bytes(self, text: str) -> bytes:
        return utf8(text[:1])[:1]
