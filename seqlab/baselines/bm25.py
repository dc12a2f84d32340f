"""BM25 (Robertson et al. 1994): the words that a query shares with a document, rare ones first.

    score(q, d) = sum over the query's terms t of idf(t) x count(t, d) / (count(t, d) + k1 (1 - b + b length(d) / mean))

with idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)) for a term of n among N documents. bm25s computes all of it beforehand.
Q: queries, N: documents, E: pairs of a term and a document that has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqlab.baselines.terms import Terms
from seqlab.data.documents.document import Document
from seqlab.errors import DataError

K1, B = 0.9, 0.4  # Anserini's: they suit short and long documents alike
TABLE = ("data", "indices", "indptr")  # of bm25s: scores and documents of each term, and where each term begins


class Bm25:
    """`scores` are 0 for documents without a word of the query: these are not found."""

    floor = 0.0

    def __init__(self, terms: Terms, table: Mapping[str, np.ndarray], documents: int):
        self.about = f"BM25 on word stems (k1 {K1}, b {B})"
        self.documents = documents
        self.terms, self._engine = terms, _engine()
        self._engine.scores = {**table, "num_docs": documents}
        self._engine.nonoccurrence_array = None

    @classmethod
    def fit(cls, documents: Iterable[Document]) -> "Bm25":
        """Titles are read with the texts."""
        terms = Terms()
        ids = [terms.learn(document.with_title) for document in documents]
        if not terms.ids:
            raise DataError("no document has a word to search for: give documents with text.")
        engine = _engine()
        engine.index((ids, dict(terms.ids)), create_empty_token=False, show_progress=False)
        return cls(terms, {name: engine.scores[name] for name in TABLE}, len(ids))

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """(Q, N) in float32. A term counts as often as the query has it; one that no document has counts nothing."""
        scores_QN = np.zeros((len(queries), self.documents), np.float32)
        for row, query in enumerate(queries):
            if ids := self.terms.known(query):
                scores_QN[row] = self._engine.get_scores_from_ids(ids)
        return scores_QN

    def parts(self, query: str, document: int) -> dict[str, float]:
        """What each term of the query adds to the score of one document; the terms that it lacks are left out."""
        data, indices, indptr = (self._engine.scores[name] for name in TABLE)
        parts: dict[str, float] = {}
        for stem in self.terms.stems(query):
            if stem in self.terms.ids:
                first, end = indptr[self.terms.ids[stem]], indptr[self.terms.ids[stem] + 1]
                found = first + np.flatnonzero(indices[first:end] == document)
                if len(found):
                    parts[stem] = parts.get(stem, 0.0) + float(data[found[0]])
        return parts

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that `from_arrays` needs, for a file without code in it."""
        terms = "\n".join(self.terms.ids).encode()
        return {
            **{name: np.asarray(self._engine.scores[name]) for name in TABLE},
            "terms": np.frombuffer(terms, np.uint8),
            "documents": np.array([self.documents]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Bm25":
        terms = Terms(arrays["terms"].tobytes().decode().split("\n"))
        return cls(terms, {name: arrays[name] for name in TABLE}, int(arrays["documents"][0]))


def _engine() -> Any:
    import bm25s  # half a second, which commands that search nothing need not wait

    return bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy", csc_backend="scipy")
