"""Model answers to the exercises on tokenizers."""

import math
from collections import Counter


def bits_per_character(perplexity, tokens, characters):
    return tokens * math.log2(perplexity) / characters


def _join(pieces, pair):
    joined = []
    for piece in pieces:
        if joined and (joined[-1], piece) == tuple(pair):
            joined[-1:] = ["".join(pair)]
        else:
            joined.append(piece)
    return joined


def learn_merges(words, count):
    split, merges = {word: list(word) for word in words}, []
    for _ in range(count):
        pairs = Counter()
        for word, times in words.items():
            for pair in zip(split[word], split[word][1:], strict=False):
                pairs[pair] += times
        merges.append(max(pairs, key=pairs.__getitem__))
        split = {word: _join(pieces, merges[-1]) for word, pieces in split.items()}
    return merges


def encode(word, merges):
    pieces = list(word)
    for pair in merges:
        pieces = _join(pieces, pair)
    return pieces
