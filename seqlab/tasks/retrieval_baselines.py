"""The rankers beside a text encoder: by words, by vectors that need no training, and by memory of training queries."""

from collections.abc import Iterator

from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.lsa import Lsa
from seqlab.baselines.memorizing import AppendedQueries, NearestQuery
from seqlab.baselines.ranker import Ranker
from seqlab.baselines.role import BaselineRole
from seqlab.baselines.static_vectors import StaticVectors
from seqlab.data.documents.document import Query
from seqlab.data.documents.pairs import RetrievalExamples


def fitted_rankers(data: RetrievalExamples, split: str) -> Iterator[tuple[str, BaselineRole, Ranker]]:
    """Name, role, and a ranker of the documents of a split. Those that remember need training queries."""
    documents = data.documents[split]
    yield "BM25", "main", Bm25.fit(documents)
    yield "TF-IDF and LSA", "reference", Lsa.fit(documents)
    yield "static vectors", "reference", StaticVectors.fit(documents)
    queries, qrels = _training_queries(data)
    if queries:
        yield "BM25 with training queries", "reference", AppendedQueries.fit(documents, queries, qrels)
        yield "nearest training query", "reference", NearestQuery.fit(documents, queries, qrels)


def _training_queries(data: RetrievalExamples) -> tuple[list[Query], dict[str, dict[str, int]]]:
    """The queries of given pairs, and their relevant documents."""
    qrels: dict[str, dict[str, int]] = {}
    for pair in data.splits.get("train", ()):
        if pair.kind == "given":
            qrels.setdefault(pair.text, {})[pair.document] = 1
    return [Query(text, text) for text in qrels], qrels
