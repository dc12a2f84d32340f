import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.baselines.unigram import Unigram


def test_worked_by_hand():
    """Of 2 0 0 1 the first token is context, so 0 counts 2 + 1, 1 counts 1 + 1, and 2 and 3 count 1, of 7 in all."""
    unigram = Unigram.fit(np.array([2, 0, 0, 1]), 4)
    np.testing.assert_allclose(np.exp(-unigram.nats(np.array([1, 0, 1, 2, 3]))), np.array([3, 2, 1, 1]) / 7)


def test_begin_symbols_are_neither_counted_nor_scored():
    tokens_N, starts_D = np.array([3, 0, 1, 3, 3, 1], np.uint8), np.array([0, 3, 4])
    unigram = Unigram.fit(tokens_N, 4, starts_D)
    np.testing.assert_allclose(np.exp(-unigram.nats(tokens_N, starts_D)), np.array([2, 3, 3]) / 7)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_probabilities_sum_to_one(train):
    unigram = Unigram.fit(np.array(train), 6)
    p = np.exp(-unigram.nats(np.array([0, *range(6)])))
    assert (p > 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)


def test_one_token_leaves_nothing_to_score():
    assert Unigram.fit(np.array([0]), 2).nats(np.array([1])).shape == (0,)
