"""The keyed permutation: a bijection for any length and key, and no order that one could guess."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seqlab.data.text.permutation import LONGEST_LENGTH, KeyedPermutation

KEYS = st.lists(st.integers(0, 2**63 - 1), max_size=3)


@given(st.integers(1, 3000), KEYS)
def test_every_number_once(length: int, key: list[int]) -> None:
    assert sorted(KeyedPermutation(length, *key)(np.arange(length))) == list(range(length))


@given(st.integers(1, LONGEST_LENGTH), KEYS, st.data())
def test_long_ones_stay_in_range_and_apart(length: int, key: list[int], data: st.DataObject) -> None:
    positions = data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=50, unique=True))
    numbers = KeyedPermutation(length, *key)(np.array(positions))
    assert numbers.min() >= 0 and numbers.max() < length
    assert len(set(numbers.tolist())) == len(positions)
    one_by_one = [int(KeyedPermutation(length, *key)(np.array([position]))[0]) for position in positions]
    assert numbers.tolist() == one_by_one  # a lookup does not depend on the others


@given(st.integers(500, 5000), st.integers(0, 1000))
def test_another_key_is_another_order(length: int, key: int) -> None:
    positions = np.arange(length)
    one, other = (KeyedPermutation(length, key + shift)(positions) for shift in (0, 1))
    assert (one == other).mean() < 0.05
    assert (one == positions).mean() < 0.05


def test_neighbors_are_scattered() -> None:
    """As in a random permutation: the mean distance of neighbors is a third of the length, and no step prevails."""
    length = 100_000
    numbers = KeyedPermutation(length, 7)(np.arange(length))
    steps = np.diff(numbers)
    assert abs(np.abs(steps).mean() / length - 1 / 3) < 0.01
    assert np.unique(steps, return_counts=True)[1].max() < 20
    halves = numbers[: length // 2] < length // 2
    assert abs(halves.mean() - 0.5) < 0.01
