"""What it costs to spell a word that is not in the vocabulary.

A model that predicts "some unknown word" has not predicted the text yet. With the cost of the spelling added, losses
per character compare across tokenizers and vocabulary sizes.
"""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

BYTE_NATS = math.log(256)
END = ""  # after the last character


class Speller:
    """Character bigrams of the vocabulary's words, each word once, with an end symbol.

    P(c | b) = (n(b c) + m P(c)) / (n(b) + m), where m is the number of different characters that follow b, and
    P(c) = (n(c) + [c is new]) / (n + 1): a new character is paid for with one more symbol and its bytes in UTF-8."""

    def __init__(self, words: Iterable[str]):
        self._pairs: Counter[tuple[str, str]] = Counter()
        for word in words:
            symbols = [END, *word, END]
            self._pairs.update(pairwise(symbols))
        self._before: Counter[str] = Counter()
        self._followers: Counter[str] = Counter()
        self._symbols: Counter[str] = Counter()
        for (before, symbol), count in self._pairs.items():
            self._before[before] += count
            self._followers[before] += 1
            self._symbols[symbol] += count
        self._total = self._symbols.total() + 1  # and one for every new character together

    def nats(self, word: str) -> float:
        """The cost of spelling a word, its end included."""
        symbols = [END, *word, END]
        return sum(map(self.symbol_nats, symbols, symbols[1:]))

    def symbol_nats(self, before: str, symbol: str) -> float:
        known = symbol in self._symbols
        unigram = (self._symbols[symbol] if known else 1) / self._total
        followers = self._followers[before] or 1
        probability = (self._pairs[before, symbol] + followers * unigram) / (self._before[before] + followers)
        return -math.log(probability) + (0.0 if known else len(symbol.encode()) * BYTE_NATS)
