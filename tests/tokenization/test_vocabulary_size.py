"""The size of a vocabulary is said with what `vocab_size` counts of it."""

import pytest

from seqlab.registry import TOKENIZERS
from seqlab.tokenization.vocabulary import size_in_words

TEXT = "the cat sat on the mat and the dog ran to the sea. " * 4


@pytest.mark.parametrize(
    ("name", "options", "documents", "said"),
    [
        ("char", {}, False, "char vocabulary of 15"),
        ("bpe", {"vocab_size": 260}, False, "bpe vocabulary of 260"),
        ("bpe", {"vocab_size": 260}, True, "bpe vocabulary of 262 (260 and 2 special tokens)"),
        (
            "word",
            {"vocab_size": 5},
            False,
            "word vocabulary of 6 (5 and 1 special token; 8 rarer words left out by vocab_size)",
        ),
        (
            "word",
            {"vocab_size": 14},
            False,
            "word vocabulary of 14 (13 and 1 special token; fewer than vocab_size=14: "
            "the text it learned from gives no more)",
        ),
    ],
)
def test_what_is_counted_is_said(name: str, options: dict[str, int], documents: bool, said: str) -> None:
    settings = TOKENIZERS.settings(name)(**options)
    assert size_in_words(TOKENIZERS.load(name).train([TEXT], settings, documents), settings) == said


def test_a_size_that_the_text_does_not_give_is_said() -> None:
    settings = TOKENIZERS.settings("bpe")(vocab_size=50_000)
    tokenizer = TOKENIZERS.load("bpe").train([TEXT], settings)
    assert 256 < tokenizer.vocab_size < 400
    assert size_in_words(tokenizer, settings) == (
        f"bpe vocabulary of {tokenizer.vocab_size} (fewer than vocab_size=50,000: "
        "the text it learned from gives no more)"
    )
