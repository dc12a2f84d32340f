"""Random numbers without a generator: a pure function of (seed, sequence, position), read by sampling.

The n-th output of the generator splitmix64 is its mixing function applied to a counter, so any output can be had
without the ones before it. `uniform` takes the output `sequence` of the generator seeded with `seed` as the seed of
another, and of that the output `position`. `uniforms` is the same for many sequences at once.
"""

import numpy as np

INCREMENT = 0x9E3779B97F4A7C15  # the three constants of splitmix64 (Steele, Lea, Flood 2014)
FIRST = 0xBF58476D1CE4E5B9
SECOND = 0x94D049BB133111EB
WORD = (1 << 64) - 1


def splitmix64(seed: int, index: int) -> int:
    """Output `index`, counted from 0, of splitmix64 seeded with `seed`: a word of 64 bits."""
    z = (seed + (index + 1) * INCREMENT) & WORD
    z = ((z ^ (z >> 30)) * FIRST) & WORD
    z = ((z ^ (z >> 27)) * SECOND) & WORD
    return z ^ (z >> 31)


def uniform(seed: int, sequence: int, position: int) -> float:
    """A number in [0, 1), a multiple of 2**-53."""
    return (splitmix64(splitmix64(seed, sequence), position) >> 11) * 2.0**-53


def uniforms(seed: int, sequences_B: np.ndarray, positions_B: np.ndarray) -> np.ndarray:
    """`uniform` for each row, bit by bit the same; it knows a row by its sequence number, not by its place."""
    keys_B = _splitmix64(np.full(1, seed, np.uint64), sequences_B.astype(np.uint64))
    words_B = _splitmix64(keys_B, positions_B.astype(np.uint64))
    return (words_B >> np.uint64(11)) * 2.0**-53


def _splitmix64(seed_B: np.ndarray, index_B: np.ndarray) -> np.ndarray:
    z_B = seed_B + (index_B + np.uint64(1)) * np.uint64(INCREMENT)  # arrays of unsigned words wrap around by themselves
    z_B = (z_B ^ (z_B >> np.uint64(30))) * np.uint64(FIRST)
    z_B = (z_B ^ (z_B >> np.uint64(27))) * np.uint64(SECOND)
    return z_B ^ (z_B >> np.uint64(31))
