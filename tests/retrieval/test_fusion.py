"""Two rankers in one: scaling, weights, reciprocal ranks, and the choice of a weight."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from seqlab.baselines.ranker import rank_queries
from seqlab.data.documents.document import Query
from seqlab.errors import DataError
from seqlab.retrieval import fusion as module
from seqlab.retrieval.fusion import Fusion, ReciprocalRanks, scaled, tune

IDS = ["a", "b", "c"]


@dataclass
class Fixed:
    """Gives the scores that a query is listed with."""

    table: dict[str, list[float]]
    floor: float = -math.inf
    about: str = "fixed"

    def scores(self, queries):
        return np.array([self.table[query] for query in queries], np.float32)


def test_scores_between_0_and_1_or_in_deviations():
    scores_QN = np.array([[2, 4, 3.0], [5, 5, 5]])
    np.testing.assert_allclose(scaled(scores_QN), [[0, 1, 0.5], [0, 0, 0]])
    deviation = math.sqrt(2 / 3)
    np.testing.assert_allclose(scaled(scores_QN, "deviation"), [[-1 / deviation, 1 / deviation, 0], [0, 0, 0]])
    np.testing.assert_array_equal(scaled(np.full((1, 3), -math.inf)), [[0, 0, 0]])  # nothing is found


def test_the_weight_goes_from_one_ranker_to_the_other():
    words, vectors = Fixed({"q": [2, 1, 0]}), Fixed({"q": [0, 0.8, 1]})
    for weight, expected in ((0.0, "abc"), (1.0, "cba"), (0.3, "abc"), (0.5, "bca")):
        fused = Fusion(words, vectors, weight)
        np.testing.assert_allclose(
            fused.scores(["q"]), [(1 - weight) * np.array([1, 0.5, 0]) + weight * np.array([0, 0.8, 1])], rtol=1e-6
        )
        assert rank_queries(fused, ["q"], IDS) == [[*expected]]


def test_a_ranker_that_finds_nothing_changes_nothing():
    words, nothing = Fixed({"q": [2, 1, 0]}), Fixed({"q": [-math.inf] * 3})
    assert rank_queries(Fusion(words, nothing, 0.9), ["q"], IDS) == [["a", "b", "c"]]


def test_passages_are_fused_before_the_best_one_counts():
    words, vectors = Fixed({"q": [1, 0, 0.6]}), Fixed({"q": [0, 1, 0.6]})
    fused = Fusion(words, vectors, reduce=lambda scores_QN: np.maximum.reduceat(scores_QN, [0, 2], axis=1))
    np.testing.assert_allclose(fused.scores(["q"]), [[0.5, 0.6]], rtol=1e-6)


def test_reciprocal_ranks_by_hand():
    words, vectors = Fixed({"q": [3, 0, 1]}, floor=0.0), Fixed({"q": [0.1, 0.3, 0.2]})
    fused = ReciprocalRanks(words, vectors)
    expected = [1 / 61 + 1 / 63, 1 / 61, 1 / 62 + 1 / 62]  # the words do not find b
    np.testing.assert_allclose(fused.scores(["q"]), [expected], rtol=1e-6)
    unfound = ReciprocalRanks(words, Fixed({"q": [-math.inf] * 3}))
    assert rank_queries(unfound, ["q"], IDS) == [["a", "c"]]


def collection(queries: int, first_right: float, second_right: float, seed: int = 0):
    """Rankers of which each is right, and sure of it, for some of the queries; each query has its own document."""
    draw = np.random.default_rng(seed)
    ids = [f"d{number}" for number in range(queries)]
    tables: list[dict[str, list[float]]] = [{}, {}]
    for number in range(queries):
        for table, right in zip(tables, (first_right, second_right), strict=True):
            scores = draw.uniform(0, 0.6, queries)
            scores[number] = 1.0 if draw.uniform() < right else 0.4
            table[f"q{number}"] = scores.tolist()
    asked = [Query(f"q{number}", f"q{number}") for number in range(queries)]
    qrels = {f"q{number}": {f"d{number}": 1} for number in range(queries)}
    return Fusion(Fixed(tables[0]), Fixed(tables[1])), asked, qrels, ids


def test_two_rankers_that_know_different_things_share_the_weight():
    tuned = tune(*collection(60, 0.5, 0.5))
    assert 0.3 <= tuned.fusion.weight <= 0.7 and len(tuned.weights) == 5
    assert tuned.fused > tuned.first + 0.1
    assert tuned.fusion.weight == pytest.approx(np.mean(tuned.weights), abs=1e-3)
    assert "chosen on 60 training queries in 5 folds without common documents" in str(tuned)


def test_a_useless_ranker_gets_no_weight():
    assert tune(*collection(60, 1.0, 0.0)).fusion.weight == 0


def test_each_fold_is_scored_with_a_weight_that_was_chosen_without_it(monkeypatch):
    fusion, queries, qrels, ids = collection(30, 0.5, 0.5)
    values_QW = np.zeros((30, 21))
    values_QW[:15, 3], values_QW[15:, 7] = 1, 1  # each half would choose its own weight
    monkeypatch.setattr(module, "_values_by_weight", lambda *_: values_QW)
    monkeypatch.setattr(module, "document_folds", lambda qrels, folds: [[*qrels][:15], [*qrels][15:]])
    tuned = tune(fusion, queries, qrels, ids)
    assert tuned.weights == pytest.approx((0.35, 0.15)) and tuned.fused == 0


def test_batches_do_not_matter(monkeypatch):
    fusion, queries, qrels, ids = collection(20, 0.5, 0.5)
    once = tune(fusion, queries, qrels, ids)
    monkeypatch.setattr(module, "SCORES", 60)
    again = tune(fusion, queries, qrels, ids)
    assert replace(again, fusion=once.fusion) == once and again.fusion.weight == once.fusion.weight


def test_queries_that_share_all_documents_tune_nothing():
    fusion, queries, _, ids = collection(5, 0.5, 0.5)
    with pytest.raises(DataError, match="5 queries that all share relevant documents"):
        tune(fusion, queries, {query.id: {"d0": 1} for query in queries}, ids)
