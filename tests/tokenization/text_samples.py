"""Texts and trained tokenizers that the tests of this folder share."""

import warnings
from functools import cache
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

from seqlab.errors import SeqlabWarning
from seqlab.registry import TOKENIZERS
from seqlab.testing.tokenizer import SAMPLE
from seqlab.tokenization.tokenizer import Tokenizer

quick = settings(max_examples=60)

# Dense in what splits words: spaces of all kinds, apostrophes, digits beside letters, marks that combine.
awkward = st.text(st.sampled_from("ab'’sStldr1_., \t\n\r\x0b\x1c\x85\xa0\u2003\u3000é\u0301ßΣİ日😀<>|"), max_size=40)
anything = st.one_of(awkward, st.text(max_size=40))


def trained(name: str, text: str = SAMPLE, documents: bool = False, **values: object) -> Tokenizer:
    return TOKENIZERS.load(name).train([text], TOKENIZERS.settings(name)(**values), documents)


@cache
def shared(name: str, documents: bool = False) -> Tokenizer:
    """One tokenizer for many examples: which unknown tokens it has warned of depends on their order."""
    return trained(name, documents=documents)


def encode(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode without warnings of unknown tokens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)
        return tokenizer.encode(text)


def project_root() -> Path:
    return Path(__file__).resolve().parents[2]
