"""The contract suite accepts a sound tokenizer that is not registered, and names what a broken one breaks."""

from typing import Any

import numpy as np
import pytest
from extension.toolkit.toolkit.tokenizer import AsciiTokenizer

from seqlab.testing.tokenizer import check_tokenizer
from seqlab.tokenization.tokenizer import Tokenizer


def test_a_sound_tokenizer_passes() -> None:
    check_tokenizer(AsciiTokenizer)


class Lossy(AsciiTokenizer):
    def encode_array(self, text: str) -> np.ndarray:
        return super().encode_array(text.replace("\t", " "))


class Quadratic(AsciiTokenizer):
    def encode_array(self, text: str) -> np.ndarray:
        sum(text[:end].count("é") for end in range(0, len(text), 1000))
        return super().encode_array(text)


class Eager(AsciiTokenizer):
    def encode_array(self, text: str) -> np.ndarray:
        ids = super().encode_array(text)
        return np.full(1, self.begin, self.dtype) if text == "<begin>" and self.documents else ids


class Wide(AsciiTokenizer):
    def encode_array(self, text: str) -> np.ndarray:
        return super().encode_array(text).astype(np.int64)


class Silent(AsciiTokenizer):
    def warn_of_unknown(self, texts: Any) -> None:
        pass


class Credulous(AsciiTokenizer):
    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "AsciiTokenizer":
        return cls(bool(content["documents"]))


class Lenient(AsciiTokenizer):
    def encode_array(self, text: str) -> np.ndarray:
        return super().encode_array(text.encode(errors="replace").decode())


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Lossy, "encoded and decoded is"),
        (Quadratic, "times as long to encode"),
        (Eager, "encodes to a special token"),
        (Wide, "the ids are int64, expected uint8"),
        (Silent, "0 warnings of an unknown character, expected 1"),
        (Credulous, "is accepted, expected a DataError"),
        (Lenient, r"U\+D800 is accepted"),
    ],
)
def test_a_broken_tokenizer_is_named(broken: type[Tokenizer], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_tokenizer(broken)
