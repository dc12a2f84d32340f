"""Random numbers without a generator: a pure function of (seed, sequence, position).

Output n of the generator splitmix64 is its mixing function applied to a counter, so no output depends on an earlier
one. Output `sequence` of the generator seeded with `seed` seeds a second generator, whose output `position` is used.
The functions work on numpy arrays and, compiled by kernels/sampling.py, on single numbers: the same bits.
"""

import numpy as np

# the constants of splitmix64 (Steele, Lea, Flood 2014)
INCREMENT = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


def splitmix64(seed, index):
    """Output `index`, counted from 0, of splitmix64 seeded with `seed`: words of 64 bits that wrap around."""
    z = seed + (index + np.uint64(1)) * INCREMENT
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


def uniforms(seed: int, sequences_B: np.ndarray, positions_B: np.ndarray) -> np.ndarray:
    """One number in [0, 1) for each row, a multiple of 2**-53; it depends on the row's sequence, not on its place."""
    keys_B = splitmix64(np.full(1, seed, np.uint64), sequences_B.astype(np.uint64))
    return (splitmix64(keys_B, positions_B.astype(np.uint64)) >> np.uint64(11)) * 2.0**-53


def keyed_word(key, second_key, position):
    """A word of 32 bits for each position, by the hash triple32 (Wellons 2018) with two words of 32 bits as its key.

    Words of 32 bits, because a CPU multiplies eight or sixteen of them at once."""
    z = np.uint32(position ^ key)
    z = np.uint32(np.uint32(z ^ (z >> np.uint32(17))) * np.uint32(0xED5AD4BB))
    z = np.uint32(z ^ second_key)
    z = np.uint32(np.uint32(z ^ (z >> np.uint32(11))) * np.uint32(0xAC4C1B51))
    z = np.uint32(np.uint32(z ^ (z >> np.uint32(15))) * np.uint32(0x31848BAB))
    return np.uint32(z ^ (z >> np.uint32(14)))
