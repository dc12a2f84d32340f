"""Scores of rankings, against ir-measures, which calls trec_eval."""

import ir_measures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures import AP, RR, R, nDCG

from seqlab.metrics.example_metric import find_metric
from seqlab.metrics.ranking import average_precision, ndcg, rank_documents, recall, reciprocal_rank

ORACLES = {
    "ndcg": (nDCG @ 10, ndcg),
    "ndcg_3": (nDCG @ 3, lambda gold, ranked: ndcg(gold, ranked, 3)),
    "map": (AP, average_precision),
    "mrr": (RR, reciprocal_rank),
    "recall": (R @ 100, recall),
    "recall_2": (R @ 2, lambda gold, ranked: recall(gold, ranked, 2)),
}
DOCUMENTS = [f"d{number}" for number in range(14)]  # "d10" is before "d2" in the alphabet
# few different scores: most of them are tied
scores = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.5, 0.0, 0.25, 1.0, 3.0]), min_size=1)
relevances = st.dictionaries(st.sampled_from([*DOCUMENTS, "never found"]), st.integers(0, 3), min_size=1)


def ours(score, gold, found):
    ids = list(found)
    (ranked,) = rank_documents(np.array([list(found.values())]), ids)
    return score(gold, ranked)


@given(st.lists(st.tuples(relevances, st.none() | scores), min_size=1, max_size=5))
@example([({"d1": 0}, {"d1": 1.0})])  # judged, and nothing is relevant
@example([({"d1": 2, "d2": 1, "d3": 3}, None), ({"d10": 1, "d2": 1}, dict.fromkeys(DOCUMENTS, 1.0))])
def test_the_scores_of_ir_measures(queries):
    """Ties, graded relevance, documents that are not found, and queries without a result, which count 0."""
    qrels = {f"q{place}": gold for place, (gold, _) in enumerate(queries)}
    run = {f"q{place}": found for place, (_, found) in enumerate(queries) if found is not None}
    expected = ir_measures.calc_aggregate([oracle for oracle, _ in ORACLES.values()], qrels, run)
    for oracle, score in ORACLES.values():
        each = [0.0 if found is None else ours(score, gold, found) for gold, found in queries]
        assert np.mean(each) == pytest.approx(expected[oracle], abs=1e-6), oracle


def test_scores_that_differ_beyond_float32_are_tied():
    found = {"a": 1.0 + 1e-9, "b": 1.0}
    assert ours(reciprocal_rank, {"b": 1}, found) == 1.0
    (theirs,) = ir_measures.iter_calc([RR], {"q": {"b": 1}}, {"q": found})
    assert theirs.value == 1.0


def test_worked_by_hand():
    """Two of three relevant documents are found, at ranks 2 and 4; the better one is the later one."""
    gold, ranked = {"a": 1, "b": 2, "c": 1, "z": 0}, ["z", "a", "y", "b"]
    assert reciprocal_rank(gold, ranked) == 1 / 2
    assert average_precision(gold, ranked) == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert recall(gold, ranked) == pytest.approx(2 / 3)
    assert recall(gold, ranked, 3) == pytest.approx(1 / 3)
    log = np.log2
    assert ndcg(gold, ranked) == pytest.approx((1 / log(3) + 2 / log(5)) / (2 + 1 / log(3) + 1 / log(4)))


def test_only_the_best_are_kept_and_ties_at_the_end_go_by_id():
    scores_QN = np.array([[1, 5, 1, 1, 7.0], [0, 0, 0, 0, 0]])
    ids = ["a", "b", "c", "d", "e"]
    assert rank_documents(scores_QN, ids, depth=3) == [["e", "b", "d"], ["e", "d", "c"]]
    assert rank_documents(scores_QN, ids, depth=3, floor=0.0) == [["e", "b", "d"], []]
    assert rank_documents(scores_QN, ids, floor=1.0)[0] == ["e", "b"]


@pytest.mark.parametrize(
    ("scores_QN", "reason"), [(np.array([[np.nan, 1]]), "not a number"), (np.array([[1.0]]), "1 scores for 2")]
)
def test_what_is_no_ranking(scores_QN, reason):
    with pytest.raises(AssertionError, match=reason):
        rank_documents(scores_QN, ["a", "b"])


def test_a_document_is_ranked_once():
    with pytest.raises(AssertionError, match="twice"):
        average_precision({"a": 1}, ["a", "a"])


def test_as_metrics_of_a_task():
    gold, ranked = [{"a": 1}, {"b": 1}], [["a", "b"], ["a", "b"]]
    assert find_metric("ndcg_10", "rankings").value(gold, ranked) == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert find_metric("mrr", "rankings").value(gold, ranked) == 0.75
    assert find_metric("map", "rankings").value(gold, ranked) == 0.75
    assert find_metric("recall_100", "rankings").value(gold, ranked) == 1
