"""Labels and texts that are probably something else are said, with their numbers."""

from collections import Counter

import pytest
from example_tables import corpus, many, reviews

from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.load import open_examples
from seqlab.data.examples.odd_values import missing_texts, odd_labels


def test_texts_that_may_be_missing_are_counted(write):
    rows = [*many(12), ("NaN", "odd"), ("null", "even"), (" NaN ", "odd"), ("#N/A", "odd")]
    notes = open_examples("labeled", corpus(write("a.tsv", reviews(*rows)))).notes
    assert ("4 texts may stand for a missing one, 'NaN' (2), 'null' (1), '#N/A' (1). Delete such rows if so") in notes
    assert missing_texts([TextPair("a", "None"), TextPair("-", "b")])[0].startswith("2 texts may stand for")
    assert missing_texts([LabeledText("none of it", "NA")]) == []  # labels have a note of their own


@pytest.mark.parametrize("labels", [
    {"a": 9, "b;c": 4, "b": 3, "a;c": 5},
    {"a|b": 9, "b|c": 4, "a|c": 2},
    {'["a", "b"]': 5, '["b"]': 3, '["a", "c"]': 2, '["c"]': 1},
    {"1,2": 5, "2,3": 3, "1,3": 2, "1": 1},
])  # fmt: skip
def test_lists_of_labels_are_said(labels: dict[str, int]) -> None:
    (note,) = odd_labels(Counter(labels))
    assert "look like lists of labels, such as " in note and "each combination is learned as a class" in note


@pytest.mark.parametrize("labels", [{"1,0": 9, "0,0": 4, "1": 3, "0": 5}, {"1,0": 2, "0,0": 3, "0,1": 2, "1,1": 1}])
def test_decimal_commas_make_no_lists(labels: dict[str, int]) -> None:
    assert odd_labels(Counter(labels)) == []


@pytest.mark.parametrize("labels", [{"a": 1, "b": 2}, {"yes, very": 3, "no; never": 2}, {"News, local": 3, "Art": 1}])
def test_other_labels_are_no_lists(labels: dict[str, int]) -> None:
    assert odd_labels(Counter(labels)) == []
