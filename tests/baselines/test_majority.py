"""The most frequent label."""

import numpy as np
import pytest

from seqlab.baselines.majority import Majority
from seqlab.data.examples.example import LabeledText


def fitted(labels):
    return Majority.fit([LabeledText(f"text {place}", label) for place, label in enumerate(labels)])


def test_worked_by_hand():
    """b counts 2 + 1, a and c 1 + 1, of 7 in all."""
    majority = fitted("cabb")
    assert majority.predict(["any", "text"]) == ["b", "b"]
    assert majority.labels == ("a", "b", "c")
    np.testing.assert_allclose(majority.probabilities(["any", "text"]), np.array([[2, 3, 2]] * 2) / 7)
    assert majority.about.startswith("always b,")


def test_of_equally_frequent_labels_the_first_by_the_alphabet():
    assert fitted("cbbc").predict([""]) == fitted("bccb").predict([""]) == ["b"]


def test_no_texts():
    assert fitted("ab").predict([]) == []
    assert fitted("ab").probabilities([]).shape == (0, 2)


def test_nothing_to_count_is_our_mistake():
    with pytest.raises(AssertionError):
        Majority.fit([])
