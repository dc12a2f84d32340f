"""The character tokenizer: one symbol per character of the training text, in the order of their code points."""

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np

from seqlab.config import TokenizerSettings
from seqlab.errors import DataError
from seqlab.tokenization.serialization import check_keys, checked_symbols
from seqlab.tokenization.tokenizer import Tokenizer, utf8

CODE_POINTS = 0x110000
BLOCK = 1 << 16  # characters looked up at once: the intermediate arrays stay in the processor's cache


@final
class CharTokenizer(Tokenizer):
    name = "char"
    can_meet_unknown = True
    absence = ("never occurs in the training text", "never occur in the training text")

    def __init__(self, characters: Sequence[str], documents: bool = False):
        super().__init__([character.encode() for character in characters], documents)
        self.characters = tuple(characters)
        codes_V = np.array([ord(character) for character in characters])
        # One entry more than the largest code point: whatever lies beyond is clipped to it and so is unknown.
        self._table = np.full(codes_V.max() + 2, self.unknown, dtype=self.dtype)
        self._table[codes_V] = np.arange(len(characters))

    @classmethod
    def train(cls, pieces: Iterable[str], settings: TokenizerSettings, documents: bool = False) -> Self:
        seen = np.zeros(CODE_POINTS, dtype=bool)
        for piece in pieces:
            seen[_code_points(piece)] = True
        if not seen.any():
            raise DataError("the training text is empty: a character tokenizer needs at least one character.")
        return cls([chr(code) for code in np.flatnonzero(seen)], documents)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        check_keys(content, cls.name, "characters")
        characters = checked_symbols(content, "characters", most=CODE_POINTS)
        if any(len(character) != 1 for character in characters) or characters != sorted(characters):
            raise DataError("its 'characters' are not single characters in the order of their code points")
        return cls(characters, content["documents"])

    def to_json(self) -> dict[str, Any]:
        return {**self.header(), "characters": list(self.characters)}

    def encode(self, text: str) -> np.ndarray:
        ids_T = np.empty(len(text), dtype=self.dtype)
        met: list[int] = []
        for start in range(0, len(text), BLOCK):
            codes_T = _code_points(text[start : start + BLOCK])
            block_T = ids_T[start : start + BLOCK]
            self._table.take(codes_T, out=block_T, mode="clip")
            unknown_T = block_T == self.unknown
            if unknown_T.any():
                met += np.unique(codes_T[unknown_T]).tolist()
        self._warn_of(map(chr, met))
        return ids_T

    def first(self, text: str) -> bytes:
        return utf8(text[:1])


def _code_points(text: str) -> np.ndarray:
    """One number per character, in one byte each where they all fit and four where they do not."""
    try:
        return np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
    except UnicodeEncodeError:
        utf8(text)  # refuses what is not a character
        return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
