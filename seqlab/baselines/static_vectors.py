"""Static vectors: a text is the weighted mean of its tokens' vectors, whatever their order (Arora et al. 2017).

    vector(text) = mean over its tokens of a / (a + p(token)) x vector(token), without the common direction

The weights (SIF) let frequent tokens count little. The common direction is the one that all documents share most.
N: texts, V: tokens, D: dimensions.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from seqlab.baselines.cooccurrence import WINDOW, token_vectors
from seqlab.baselines.terms import Terms
from seqlab.baselines.vector_ranker import DIMENSIONS, VectorRanker, count_terms, normalized
from seqlab.data.documents.document import Document

A = 3e-4  # tokens that are more frequent than this count less than half

Encode = Callable[[str], Sequence[int]]  # a text to the ids of its known tokens


class StaticVectors(VectorRanker):
    """`counts_NV` are those of the documents: frequencies and the common direction follow from them."""

    def __init__(self, encode: Encode, table_VD: np.ndarray, counts_NV: csr_matrix, about: str):
        self.about = f"{about}; SIF weights (a = {A:g}), common component removed"
        self._encode, self._tokens = encode, range(len(table_VD))
        frequency_V = np.asarray(counts_NV.sum(axis=0)).ravel() / max(1.0, counts_NV.sum())
        self._weighted_VD = (A / (A + frequency_V))[:, None].astype(np.float32) * normalized(table_VD)
        means_ND = normalized(counts_NV @ self._weighted_VD)
        self._common_D = np.linalg.svd(means_ND.T @ means_ND)[0][:, 0]
        self.vectors_ND = self._without_common(means_ND)

    @classmethod
    def fit(cls, documents: Iterable[Document], dimensions: int = DIMENSIONS) -> "StaticVectors":
        """Vectors of word stems, from the documents themselves."""
        terms = Terms()
        rows = [terms.learn(document.with_title) for document in documents]
        counts_NV = count_terms(rows, terms)
        vectors = token_vectors(rows, len(terms), dimensions)
        total = sum(map(len, rows))
        about = f"static vectors of {vectors.vectors_VD.shape[1]} dimensions: PPMI of stems within {WINDOW} words, SVD"
        about += f" ({vectors.read:,} of {total:,} words counted)" if vectors.read < total else ""
        rare = vectors.distinct - vectors.kept
        about += f" (the {vectors.kept:,} most frequent of {vectors.distinct:,} stems)" if rare else ""
        return cls(terms.known, vectors.vectors_VD, counts_NV, about)

    @classmethod
    def from_table(cls, encode: Encode, table_VD: np.ndarray, documents: Iterable[Document]) -> "StaticVectors":
        """Vectors that a model has learned, such as its embedding, for the tokens of its tokenizer."""
        counts_NV = count_terms((encode(document.with_title) for document in documents), range(len(table_VD)))
        return cls(encode, table_VD, counts_NV, f"the mean of a model's own vectors of {table_VD.shape[1]} dimensions")

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        counts_NV = count_terms((self._encode(text) for text in texts), self._tokens)
        return self._without_common(normalized(counts_NV @ self._weighted_VD))

    def _without_common(self, means_ND: np.ndarray) -> np.ndarray:
        return normalized(means_ND - np.outer(means_ND @ self._common_D, self._common_D))
