"""Rankers that repeat the training queries."""

import numpy as np

from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.memorizing import AppendedQueries, NearestQuery
from seqlab.baselines.ranker import rank_queries
from seqlab.data.documents.document import Document, Query

DOCUMENTS = [
    Document("cats", "They purr and sleep in the sun."),
    Document("dogs", "They bark at the moon."),
    Document("birds", "They sing in the morning."),
]
IDS = [document.id for document in DOCUMENTS]
QUERIES = [Query("1", "which animal purrs loudly?"), Query("2", "what is a loud animal?"), Query("3", "unrelated")]
QRELS = {"1": {"cats": 1, "birds": 0, "gone": 1}, "2": {"dogs": 2}}


def test_the_documents_of_the_nearest_training_query_come_first():
    ranker = NearestQuery.fit(DOCUMENTS, QUERIES, QRELS)
    asked = ["an animal purrs", "a loud animal", "sing in the morning", "unrelated"]
    assert rank_queries(ranker, asked, IDS) == [["cats", "dogs"], ["dogs", "cats"], [], []]


def test_its_score_is_that_of_the_best_training_query():
    queries = [Query("a", "red fox"), Query("b", "red"), Query("c", "fox den")]
    ranker = NearestQuery.fit(DOCUMENTS, queries, {"a": {"cats": 1}, "b": {"cats": 1, "dogs": 1}, "c": {"dogs": 1}})
    alike_T = Bm25.fit(Document(query.id, query.text) for query in queries).scores(["red fox"])[0]
    expected = [max(alike_T[0], alike_T[1]), max(alike_T[1], alike_T[2]), 0]
    np.testing.assert_allclose(ranker.scores(["red fox"])[0], expected)


def test_appended_queries_are_words_of_their_documents():
    ranker = AppendedQueries.fit(DOCUMENTS, QUERIES, QRELS)
    assert rank_queries(ranker, ["a loud animal"], IDS) == [["dogs", "cats"]]
    assert rank_queries(ranker, ["morning"], IDS) == [["birds"]]  # the documents are read, too
    plain = Bm25.fit(DOCUMENTS)
    assert rank_queries(plain, ["a loud animal"], IDS) == [[]]


def test_without_training_queries_that_have_a_document_nothing_is_found():
    ranker = NearestQuery.fit(DOCUMENTS, QUERIES, {})
    assert rank_queries(ranker, ["an animal purrs"], IDS) == [[]]
