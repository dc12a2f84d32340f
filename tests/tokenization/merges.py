"""Byte-pair encoding as defined, one merge at a time, to compare the library of bpe.py with."""

from itertools import pairwise


def merge_pairs(word: bytes, ranks: dict[tuple[bytes, bytes], int]) -> list[bytes]:
    """Start from single bytes; while any neighboring pair has a rank, merge the leftmost pair of the lowest rank."""
    tokens = [word[i : i + 1] for i in range(len(word))]
    while True:
        ranked = [(ranks[pair], i) for i, pair in enumerate(pairwise(tokens)) if pair in ranks]
        if not ranked:
            return tokens
        _, i = min(ranked)
        tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
