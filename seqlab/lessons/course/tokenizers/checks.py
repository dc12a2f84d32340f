"""Checks of the exercises on tokenizers."""

import math
from types import ModuleType

from seqlab.tokenization.bpe import BpeSettings, BpeTokenizer

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 6}  # no ties in the first three merges
TEXT = " ".join(word for word, count in WORDS.items() for _ in range(count))


def check_bits_per_character(answer: ModuleType) -> None:
    """Bits per character from a perplexity"""
    for perplexity, tokens, characters in ((48, 1000, 4000), (2, 7, 7), (7.3, 12_000, 12_000)):
        got = answer.bits_per_character(perplexity, tokens, characters)
        expected = tokens * math.log(perplexity) / math.log(2) / characters
        assert abs(got - expected) < 1e-9, (
            f"bits_per_character({perplexity}, {tokens}, {characters}) is {got!r}; expected {expected:.4f}: the bits "
            "of all tokens over the characters."
        )


def library_merges(count: int) -> list[tuple[str, str]]:
    """What seqlab learns; every word is a text of its own, so that no space is part of it."""
    chunks = [word for word, times in WORDS.items() for _ in range(times)]
    tokenizer = BpeTokenizer.train(chunks, BpeSettings(vocab_size=256 + count))
    return [(left.decode(), right.decode()) for left, right in tokenizer.merges]


def check_learn_merges(answer: ModuleType) -> None:
    """Learning merges"""
    for count in (1, 3):
        got, expected = [tuple(pair) for pair in answer.learn_merges(dict(WORDS), count)], library_merges(count)
        assert got == expected, (
            f"learn_merges({WORDS}, {count}) is {got!r}; expected {expected}: count each pair as often as its "
            "word occurs, and count anew after every merge."
        )


def check_encode(answer: ModuleType) -> None:
    """Encoding with merges"""
    merges = [("u", "g"), ("h", "ug"), ("p", "u"), ("a", "a"), ("ug", "s")]
    tokenizer = BpeTokenizer([(ord("u"), ord("g")), (ord("h"), 256), (ord("p"), ord("u")), (97, 97), (256, ord("s"))])
    for word in ("hug", "pug", "hugs", "pun", "aaa", "aaaa", "bugs", "x"):
        got = list(answer.encode(word, merges))
        expected = [tokenizer.decode([token]) for token in tokenizer.encode(word)]
        assert got == expected, (
            f"encode({word!r}, {merges}) is {got!r}; expected {expected}: merges apply in the order in which they were "
            "learned, not longest first."
        )
