"""Accuracy and macro F1 of labels, against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from seqlab.metrics.descriptions import ACCURACY, NATS_PER_CHAR
from seqlab.metrics.labels import accuracy, correct_sums, macro_f1

pairs = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=20)


@given(pairs)
def test_as_scikit_learn_has_them(pairs):
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    assert accuracy(correct_sums(gold, predicted)) == pytest.approx(100 * accuracy_score(gold, predicted))
    assert macro_f1(gold, predicted) == pytest.approx(100 * f1_score(gold, predicted, average="macro"))


def test_worked_by_hand():
    """Of a, F1 is 2 x 1 / (2 + 1); of b, which is never right, and of c, which is not there, 0."""
    gold, predicted = ["a", "a", "b"], ["a", "b", "c"]
    np.testing.assert_array_equal(correct_sums(gold, predicted), [1, 3])
    assert macro_f1(gold, predicted) == pytest.approx(100 * (2 / 3) / 3)


def test_sums_of_units_add_up_whatever_their_axes():
    units_UK = np.stack([correct_sums(["a"], ["a"]), correct_sums(["a", "b"], ["b", "b"]), correct_sums([], [])])
    assert accuracy(units_UK.sum(0)) == pytest.approx(200 / 3)
    runs_SUK = np.stack([units_UK[:2], units_UK[1::-1]])
    np.testing.assert_allclose(accuracy(runs_SUK), [[100, 50], [50, 100]])


def test_nothing_counted_is_not_a_number():
    assert math.isnan(accuracy(correct_sums([], [])))


def test_one_label_is_not_a_sequence_of_letters():
    np.testing.assert_array_equal(correct_sums("positive", "negative"), [0, 1])
    np.testing.assert_array_equal(correct_sums("positive", "positive"), [1, 1])


def test_words_without_a_gold_tag_are_not_counted():
    np.testing.assert_array_equal(correct_sums(["a", "_", "b"], ["a", "c", "c"]), [1, 2])


def test_no_label_is_left_over():
    with pytest.raises(AssertionError, match="1 predictions for 2 labels"):
        correct_sums(["a", "b"], ["a"])


def test_an_interval_ends_where_the_metric_does():
    assert ACCURACY.possible((-3.0, 104.0)) == (0.0, 100.0)
    assert NATS_PER_CHAR.possible((-0.1, 104.0)) == (0.0, 104.0)
