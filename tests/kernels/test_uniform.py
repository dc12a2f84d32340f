import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.kernels.uniform import splitmix64, uniforms

# the first outputs of the reference implementation (S. Vigna's splitmix64.c) seeded with 1234567
PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
WORDS = st.integers(0, 2**63 - 1)


def uniform(seed: int, sequence: int, position: int) -> float:
    return float(uniforms(seed, np.array([sequence]), np.array([position]))[0])


def test_words_are_those_published():
    assert splitmix64(np.array([1234567], np.uint64), np.arange(5, dtype=np.uint64)).tolist() == PUBLISHED


def test_values_never_change():
    numbers = [
        uniform(0, 0, 0),
        uniform(0, 0, 1),
        uniform(0, 1, 0),
        uniform(1, 0, 0),
        uniform(2**63 - 1, 10**9, 10**6),
    ]
    assert numbers == [
        0.6524484863740322,
        0.7012121095215252,
        0.27623358227789463,
        0.36818951565166946,
        0.9916935651752469,
    ]


@given(seed=WORDS, sequences=st.lists(WORDS, min_size=1, max_size=5), position=WORDS)
def test_rows_together_are_rows_alone(seed: int, sequences: list[int], position: int):
    together = uniforms(seed, np.array(sequences), np.full(len(sequences), position))
    assert together.tolist() == [uniform(seed, sequence, position) for sequence in sequences]
    assert all(0 <= value < 1 for value in together)


@pytest.mark.parametrize("varied", ["seed", "sequence", "position"])
def test_values_spread_evenly_along_every_argument(varied: str):
    count, cells = 20_000, 20
    values = np.array([uniform(**{"seed": 3, "sequence": 4, "position": 5, varied: i}) for i in range(count)])
    expected = count / cells
    chi2 = float(((np.histogram(values, cells, (0, 1))[0] - expected) ** 2 / expected).sum())
    assert chi2 < 43.8  # the 0.999 quantile with 19 degrees of freedom
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 4 / count**0.5


def test_neighbouring_sequences_and_positions_are_uncorrelated():
    values = np.stack([uniforms(0, np.arange(200), np.full(200, position)) for position in range(200)])
    diagonals = [(values[1:, :-1], values[:-1, 1:]), (values[:-1, :-1], values[1:, 1:]), (values, values.T)]
    for values, transposed in diagonals:
        off = values != transposed  # a value is itself on the diagonal of the transposed
        assert abs(np.corrcoef(values[off], transposed[off])[0, 1]) < 4 * (2 / values.size) ** 0.5
    assert len(np.unique(values)) == values.size
