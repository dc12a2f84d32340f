"""The most frequent label."""

import pytest

from seqlab.baselines.majority import Majority
from seqlab.data.examples.example import LabeledText


def fitted(labels: str) -> Majority:
    return Majority.fit([LabeledText(f"text {index}", label) for index, label in enumerate(labels)])


def test_the_most_frequent_label() -> None:
    majority = fitted("cabb")
    assert majority.predict([LabeledText("any", ""), LabeledText("text", "")]) == ["b", "b"]
    assert majority.predict([]) == []
    assert majority.about.startswith("always b,")


def test_ties_are_broken_alphabetically() -> None:
    assert fitted("cbbc").label == fitted("bccb").label == "b"


def test_no_examples_are_refused() -> None:
    with pytest.raises(AssertionError):
        Majority.fit([])
