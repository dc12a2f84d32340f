"""What remembering the training queries is worth: rankers that repeat which documents were relevant in training.

Where held-out queries ask for documents that training queries asked for, these win without understanding anything, and
so may a model. Where the documents are others, the first finds nothing.
Q: queries, T: training queries, N: documents, P: pairs of a training query and a document that is relevant for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from seqlab.baselines.bm25 import Bm25
from seqlab.data.documents.document import Document, Qrels, Query


class NearestQuery:
    """The documents of the training query that is most like the query, by BM25; then those of the next, and so on.

    The documents themselves are not read."""

    floor = 0.0
    about = "the documents of the nearest training query; the documents are not read"

    def __init__(self, queries: Bm25, pairs_P2: np.ndarray, documents: int):
        self.documents = documents
        self._queries, self._pairs_P2 = queries, pairs_P2

    @classmethod
    def fit(cls, documents: Iterable[Document], queries: Sequence[Query], qrels: Qrels) -> "NearestQuery":
        places = {document.id: place for place, document in enumerate(documents)}
        pairs = [
            (row, places[name])
            for row, query in enumerate(queries)
            for name, relevance in qrels.get(query.id, {}).items()
            if relevance > 0 and name in places
        ]
        asked = Bm25.fit(Document(query.id, query.text) for query in queries)
        return cls(asked, np.array(pairs, int).reshape(-1, 2), len(places))

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """For each document the score of the best training query that it is relevant for."""
        scores_QN = np.zeros((len(queries), self.documents), np.float32)
        training_P, document_P = self._pairs_P2.T
        for scores_N, alike_T in zip(scores_QN, self._queries.scores(queries), strict=True):
            np.maximum.at(scores_N, document_P, alike_T[training_P])
        return scores_QN


class AppendedQueries:
    """BM25 on the documents, each followed by the training queries that it is relevant for."""

    floor = 0.0

    def __init__(self, ranker: Bm25):
        self.about = f"{ranker.about}, each document with its training queries appended"
        self._ranker = ranker

    @classmethod
    def fit(cls, documents: Iterable[Document], queries: Sequence[Query], qrels: Qrels) -> "AppendedQueries":
        asked: dict[str, list[str]] = {}
        for query in queries:
            for name, relevance in qrels.get(query.id, {}).items():
                if relevance > 0:
                    asked.setdefault(name, []).append(query.text)
        return cls(
            Bm25.fit(
                replace(document, text="\n".join([document.text, *asked.get(document.id, [])]))
                for document in documents
            )
        )

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        return self._ranker.scores(queries)
