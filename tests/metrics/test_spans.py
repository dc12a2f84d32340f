"""Spans of BIO tags and their F1, against seqeval."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities
from sklearn.exceptions import UndefinedMetricWarning

from seqlab.metrics.spans import entity_f1, precision, recall, span_sums, spans

TAGS = ["O", "B-a", "I-a", "B-b", "I-b", "B-a-b", "I-a-b", "B", "I", "B-_"]
words = st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=12)
sentences = st.lists(words, min_size=1, max_size=4)


def sides(sentences):
    gold, predicted = ([[word[side] for word in words] for words in sentences] for side in (0, 1))
    return gold, predicted


@given(st.lists(st.sampled_from(TAGS), max_size=20))
def test_the_spans_of_seqeval(tags):
    assert spans(tags) == get_entities(tags)


@given(sentences)
@example([[("O", "O")]])
def test_the_scores_of_seqeval(sentences):
    gold, predicted = sides(sentences)
    sums_K = np.sum([span_sums(*pair) for pair in zip(gold, predicted, strict=True)], axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert entity_f1(sums_K) == pytest.approx(100 * f1_score(gold, predicted))
        assert precision(sums_K) == pytest.approx(100 * precision_score(gold, predicted))
        assert recall(sums_K) == pytest.approx(100 * recall_score(gold, predicted))


def test_worked_by_hand():
    """Two people and a place: one found, one cut short, the place taken for a person."""
    gold = ["B-person", "I-person", "O", "B-person", "I-person", "B-place"]
    predicted = ["B-person", "I-person", "O", "B-person", "O", "B-person"]
    assert spans(gold) == [("person", 0, 1), ("person", 3, 4), ("place", 5, 5)]
    sums_K = span_sums(gold, predicted)
    np.testing.assert_array_equal(sums_K, [1, 3, 3])
    assert entity_f1(sums_K) == pytest.approx(100 / 3)


def test_broken_sequences_are_read_kindly():
    assert spans(["I-a", "I-a", "I-b", "O", "I-b"]) == [("a", 0, 1), ("b", 2, 2), ("b", 4, 4)]
    assert spans(["B-a-b", "I-a-b", "I-a"]) == [("a-b", 0, 1), ("a", 2, 2)]


def test_tags_of_other_kinds_are_outside():
    assert spans(["NOUN", "INTJ", "_", "B-a", "_", "I-a"]) == [("a", 3, 3), ("a", 5, 5)]


def test_values_of_many_runs_at_once():
    units_UK = np.array([[1, 2, 3], [0, 0, 0], [2, 2, 1.0]])
    np.testing.assert_allclose(entity_f1(units_UK[None]), [[40, 0, 400 / 3]])
    np.testing.assert_allclose(precision(units_UK[None]), [[50, 0, 100]])
    np.testing.assert_allclose(recall(units_UK[None]), [[100 / 3, 0, 200]])
    assert entity_f1(units_UK.sum(0)) == pytest.approx(75)


def test_a_tag_for_every_word():
    with pytest.raises(AssertionError, match="1 tags for 2 words"):
        span_sums(["O", "O"], ["O"])


def test_a_thousand_sentences_take_no_time():
    rng = np.random.default_rng(0)
    tags = rng.choice(TAGS, (1000, 2, 30)).tolist()
    before = time.process_time()
    for gold, predicted in tags:
        span_sums(gold, predicted)
    assert time.process_time() - before < 0.5
