"""Figures of rankers with intervals and verdicts, on all, seen and unseen queries."""

import json

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, R, nDCG

from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.memorizing import NearestQuery
from seqlab.comparison.judgment.statistics import estimate
from seqlab.data.documents.collection import scifact
from seqlab.data.documents.document import Document, Query, relevant_documents
from seqlab.data.documents.pairs import JudgedQuery, RetrievalExamples, TrainingPair, seen_queries
from seqlab.data.documents.python_docs import python_sections
from seqlab.metrics.descriptions import NDCG_10
from seqlab.retrieval.evaluation import Evaluation, evaluate_rankers


@pytest.fixture(scope="module")
def sections():
    return python_sections()


def test_the_figures_of_ir_measures(sections):
    queries, qrels = sections.queries["train"], sections.qrels["train"]
    bm25 = Bm25.fit(sections.documents)
    found = evaluate_rankers({"BM25": bm25}, sections.ids, queries, qrels)
    scores_QN = bm25.scores([query.text for query in queries])
    run = {
        query.id: {name: float(score) for name, score in zip(sections.ids, scores_N, strict=True) if score > 0}
        for query, scores_N in zip(queries, scores_QN, strict=True)
    }
    expected = ir_measures.calc_aggregate([nDCG @ 10, AP, RR, R @ 100], qrels, run)
    for metric, oracle in (("ndcg_10", nDCG @ 10), ("map", AP), ("mrr", RR), ("recall_100", R @ 100)):
        value = found.value("BM25", metric)
        assert value.value == pytest.approx(expected[oracle], abs=1e-6)
        assert value.low is not None and value.high is not None and 0 <= value.low < value.value < value.high <= 1


def evaluation(first, second, seen=None) -> Evaluation:
    """Two rankers with these values of nDCG@10."""
    sums = {
        name: {"ndcg_10": np.stack([values, np.ones(len(values))], axis=1)}
        for name, values in (("words", np.array(first, float)), ("vectors", np.array(second, float)))
    }
    queries = [Query(str(number), "") for number in range(len(first))]
    seen_Q = None if seen is None else np.array(seen, bool)
    return Evaluation(queries, seen_Q, sums, {"words": "", "vectors": ""}, [("vectors", "words")])


@pytest.mark.parametrize("sorted_by_score", [True, False])
def test_an_order_of_queries_that_widens_intervals_is_said(sorted_by_score):
    documents = [Document(f"d{number}", f"word{number} here") for number in range(20)]
    order = [*range(20)] if sorted_by_score else [number // 2 + 10 * (number % 2) for number in range(20)]
    queries = [Query(str(number), f"word{number}") for number in order]
    qrels = {str(number): {f"d{number}": int(number < 10)} for number in order}
    found = evaluate_rankers({"BM25": Bm25.fit(documents)}, [one.id for one in documents], queries, qrels)
    assert found.value("BM25").value == 0.5
    notes = [note for note in found.notes if "score alike by BM25, so that 20 count as 1 in its interval" in note]
    assert [*found.notes] == notes and len(notes) == sorted_by_score


def test_verdicts_are_about_unseen_queries():
    """Better by memory alone: the 40 seen queries are perfect, the 40 unseen ones as before."""
    draw = np.random.default_rng(0)
    words = draw.uniform(0, 1, 80)
    seen = np.arange(80) % 2 == 0
    found = evaluation(words, np.where(seen, 1, words), seen)
    assert found.deciding == "unseen"
    (pair,) = found.pairs
    assert pair.verdict == "not distinguishable" and pair.difference == 0
    (pair,) = evaluation(words, np.where(seen, 1, words)).pairs
    assert pair.verdict == "better" and pair.a == "vectors"
    assert "vectors is better than words by" in pair.sentence and "nDCG@10 (95% interval" in pair.sentence
    assert found.value("vectors", part="seen").value == 1
    assert found.value("vectors", part="unseen") == found.value("words", part="unseen")


def test_too_few_unseen_queries_decide_nothing():
    values = np.linspace(0, 1, 50)
    found = evaluation(values, values, np.arange(50) > 5)
    assert found.deciding == "all" and found.as_dict()["queries"] == {"all": 50, "seen": 44, "unseen": 6}
    assert set(evaluation(values, values, np.ones(50)).parts) == {"all", "seen"}


def test_rankers_without_seeds_are_not_told_to_take_more():
    draw = np.random.default_rng(1)
    words = draw.uniform(0, 1, 60)
    found = evaluation(words, np.clip(words + draw.normal(0.01, 0.3, 60), 0, 1))
    (pair,) = found.pairs
    assert pair.sentence.endswith("; more test data could settle this")
    # the difference that would be shown is 2.8 standard errors, the half interval is 2
    assert pair.high is not None and pair.low is not None
    assert found.detectable(pair) == pytest.approx((pair.high - pair.low) / 2 * 2.85 / 2, rel=0.03)


def test_one_query_has_no_interval():
    found = evaluation([0.5], [1.0])
    assert found.value("words").low is None
    assert found.pairs[0].verdict == "ahead on this data"
    json.dumps(found.as_dict())


@pytest.mark.parametrize("queries", [50, 100, 300])
def test_the_interval_holds_where_rankers_differ_in_few_queries(queries):
    """An eighth of the queries differ, as between BM25 and a good hybrid: 95% of the intervals have the true value."""
    draw = np.random.default_rng(queries)
    inside, width, times = 0, 0.0, 400
    for _ in range(times):
        differs = draw.uniform(size=queries) < 0.125
        difference = np.where(differs, draw.choice([-0.37, -0.13, 0.13, 0.37], queries, p=[0.15, 0.2, 0.35, 0.3]), 0)
        sums = [np.stack([values, np.ones(queries)], axis=1) for values in (np.full(queries, 0.5), 0.5 + difference)]
        found = estimate(sums[0], sums[1], span=NDCG_10.unit_span)
        assert found.low is not None and found.high is not None
        inside += found.low <= 0.125 * (0.15 * 0.13 + 0.15 * 0.37) <= found.high
        width += (found.high - found.low) / 2
    assert 0.94 * times <= inside
    assert width / times < 1.3 * 1.96 * np.sqrt(0.125 * 0.071 / queries) + 0.15 / queries


def test_a_query_is_seen_if_a_relevant_document_was():
    queries = [Query(name, name) for name in "abcd"]
    qrels = {"a": {"1": 1, "2": 1}, "b": {"1": 0, "3": 1}, "c": {"4": 2}, "d": {"5": 0}}
    training = {"x": {"2": 1, "3": 0}, "y": {"4": 1, "5": 1}}
    seen = [True, False, True, False]
    assert (
        seen_queries(map(relevant_documents, qrels.values()), map(relevant_documents, training.values())).tolist()
        == seen
    )
    found = evaluate_rankers({}, [], queries, qrels, training)
    assert found.seen_Q is not None and found.seen_Q.tolist() == seen
    judged = [JudgedQuery(name, name, tuple(relevance.items())) for name, relevance in qrels.items()]
    pairs = [TrainingPair("given", "2", "x"), TrainingPair("given", "4", "y"), TrainingPair("given", "5", "y")]
    pairs.append(TrainingPair("title", "3", "a title is no query"))
    assert RetrievalExamples("c", {"train": pairs, "validation": judged}, "").seen("validation").tolist() == seen


def test_scifact_is_won_by_memory(shared_data, monkeypatch):
    """196 of the 300 test claims have an abstract that a training claim has: remembering wins there, and only there."""
    monkeypatch.setenv("SEQLAB_DATA", str(shared_data))
    collection = scifact()
    training = collection.documents, collection.queries["train"], collection.qrels["train"]
    rankers = {"BM25": Bm25.fit(collection.documents), "nearest": NearestQuery.fit(*training)}
    found = evaluate_rankers(
        rankers, collection.ids, collection.queries["test"], collection.qrels["test"], collection.qrels["train"]
    )
    assert found.as_dict()["queries"] == {"all": 300, "seen": 196, "unseen": 104}
    figures = {name: [found.value(name, part=part).value for part in found.parts] for name in rankers}
    assert figures["BM25"] == pytest.approx([0.682, 0.682, 0.680], abs=0.002)
    assert figures["nearest"] == pytest.approx([0.600, 0.918, 0.000], abs=0.002)


def test_a_ranker_sees_all_documents():
    documents = [Document("a", "red fox"), Document("b", "red dog"), Document("c", "blue sky")]
    queries, qrels = [Query("1", "red dog"), Query("2", "green")], {"1": {"b": 1}, "2": {"c": 1}}
    found = evaluate_rankers({"BM25": Bm25.fit(documents)}, ["a", "b", "c"], queries, qrels)
    assert found.rankings["BM25"] == [["b", "a"], []]
    assert found.value("BM25", "mrr").value == 0.5
