"""Byte-pair encoding as its definition reads: the plain form that bpe.py's library is tested against."""

from itertools import pairwise


def merge_pairs(piece: bytes, ranks: dict[tuple[bytes, bytes], int]) -> list[bytes]:
    """Start from single bytes and, while any two neighbours have a rank, join the leftmost pair of the lowest rank."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        ranked = [(ranks[pair], i) for i, pair in enumerate(pairwise(parts)) if pair in ranks]
        if not ranked:
            return parts
        _, i = min(ranked)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
