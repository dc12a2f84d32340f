"""What every tokenizer promises.

Ordinary symbols come first, then the special ones: unknown where the tokenizer can meet something unknown, begin
and end where a corpus is made of documents. Special symbols have no spelling, so text never becomes one, whatever
it looks like.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel

from seqlab.errors import SeqlabWarning

Ids = np.ndarray | Sequence[int]


class Tokenizer(ABC):
    """Text to ids and back. `documents` reserves a begin and an end symbol."""

    name: ClassVar[str]
    can_meet_unknown: ClassVar[bool]

    def __init__(self, documents: bool = False):
        self.documents = documents
        self._named: set[str] = set()

    @classmethod
    @abstractmethod
    def train(cls, pieces: Iterable[str], settings: BaseModel, documents: bool = False) -> Self:
        """Learn the symbols from a text that comes in pieces (cut where `cut_pieces` cuts)."""

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Rebuild from what `to_json` gave; anything that we do not write is refused."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]: ...

    @property
    @abstractmethod
    def ordinary(self) -> int:
        """How many ordinary symbols there are."""

    @abstractmethod
    def encode(self, text: str) -> np.ndarray:
        """The text's ids, in the smallest unsigned type that holds the vocabulary."""

    @abstractmethod
    def decode_bytes(self, ids: Ids) -> bytes:
        """The UTF-8 bytes that ordinary ids stand for."""

    @abstractmethod
    def first(self, text: str) -> bytes:
        """The bytes of a text that its first token stands for."""
