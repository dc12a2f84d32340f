"""The character tokenizer: one token per character of the training text, in the order of their code points."""

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError
from seqlab.tokenization.serialization import check_keys, check_tokens
from seqlab.tokenization.tokenizer import Tokenizer, utf8

CODE_POINTS = 0x110000
BLOCK = 1 << 16  # characters looked up at once: the intermediate arrays stay in the processor's cache


@final
class CharTokenizer(Tokenizer):
    name = "char"
    has_unknown = True
    unknown_reason = (
        "never occurs in the text that the tokenizer was trained on",
        "never occur in the text that the tokenizer was trained on",
    )

    def __init__(self, characters: Sequence[str], documents: bool = False):
        super().__init__([character.encode() for character in characters], documents)
        self.characters = tuple(characters)
        codes_V = np.array([ord(character) for character in characters])
        # one entry more than the largest code point: larger ones are clipped to it and so are unknown
        self._ids_by_code = np.full(codes_V.max() + 2, self.unknown, dtype=self.dtype)
        self._ids_by_code[codes_V] = np.arange(len(characters))

    @classmethod
    def train(cls, chunks: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        seen = np.zeros(CODE_POINTS, dtype=bool)
        for chunk in chunks:
            seen[_code_points(chunk)] = True
        if not seen.any():
            raise DataError("the training text is empty: a character tokenizer needs at least one character.")
        return cls([chr(code) for code in np.flatnonzero(seen)], documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name, "characters")
        characters = check_tokens(content, "characters", max_count=CODE_POINTS)
        if any(len(character) != 1 for character in characters) or characters != sorted(characters):
            raise DataError("its 'characters' are not single characters in the order of their code points")
        return cls(characters, content["documents"])

    def to_json(self) -> dict[str, Any]:
        return {**self.header(), "characters": list(self.characters)}

    def encode_array(self, text: str) -> np.ndarray:
        ids_T = np.empty(len(text), dtype=self.dtype)
        unknown_codes: list[int] = []
        for start in range(0, len(text), BLOCK):
            codes_T = _code_points(text[start : start + BLOCK])
            block_T = ids_T[start : start + BLOCK]
            self._ids_by_code.take(codes_T, out=block_T, mode="clip")
            unknown_T = block_T == self.unknown
            if unknown_T.any():
                unknown_codes += np.unique(codes_T[unknown_T]).tolist()
        self.warn_of_unknown(map(chr, unknown_codes))
        return ids_T

    def first_token_bytes(self, text: str) -> bytes:
        return utf8(text[:1])


def _code_points(text: str) -> np.ndarray:
    """One number per character, in one byte each if all of them fit, else in four."""
    try:
        return np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
    except UnicodeEncodeError:
        utf8(text)  # raises DataError for half a surrogate pair
        return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
