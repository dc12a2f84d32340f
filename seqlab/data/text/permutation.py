"""A permutation of the numbers below any length, from a key: what a shuffled index of windows would hold, computed.

A Feistel network permutes the numbers of an even count of bits; whatever falls outside the length is permuted again
until it falls inside (cycle walking). Neither the time nor the memory of a lookup depends on the length.
"""

import hashlib

import numpy as np

ROUNDS = 6  # four make a Feistel network of random functions hard to tell from a random permutation
LONGEST_LENGTH = 1 << 62


class KeyedPermutation:
    """`permutation(positions)` are distinct numbers below `length` for distinct positions; the key gives the order."""

    def __init__(self, length: int, *key: int):
        assert 0 < length <= LONGEST_LENGTH
        self.length = length
        self._half = np.uint64(max(1, ((length - 1).bit_length() + 1) // 2))
        self._mask = np.uint64((1 << int(self._half)) - 1)
        digest = hashlib.sha512(" ".join(map(str, (length, *key))).encode()).digest()
        self._keys = np.frombuffer(digest, dtype="<u8")[:ROUNDS]

    def __call__(self, positions_N: np.ndarray) -> np.ndarray:
        numbers_N = self._permute(positions_N.astype(np.uint64))
        while (outside_N := numbers_N >= self.length).any():  # the range is less than four times the length
            numbers_N[outside_N] = self._permute(numbers_N[outside_N])
        return numbers_N.astype(np.int64)

    def _permute(self, numbers_N: np.ndarray) -> np.ndarray:
        left_N, right_N = numbers_N >> self._half, numbers_N & self._mask
        for key in self._keys:
            left_N, right_N = right_N, left_N ^ (_mixed(right_N ^ key) & self._mask)
        return (left_N << self._half) | right_N


def _mixed(numbers_N: np.ndarray) -> np.ndarray:
    """64 bits that all depend on all bits of a number (the finalizer of SplitMix64)."""
    numbers_N = (numbers_N ^ (numbers_N >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers_N = (numbers_N ^ (numbers_N >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers_N ^ (numbers_N >> np.uint64(31))
