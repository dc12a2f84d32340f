"""TF-IDF and latent semantic analysis (Deerwester et al. 1990): weighted counts of words, projected onto the directions
in which the documents differ most.

    weight(t, d) = (1 + ln count(t, d)) x (1 + ln((1 + N) / (1 + n)))     for a term of n among N documents

N: documents, V: terms, D: dimensions.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_matrix, diags_array

from seqlab.baselines.terms import Terms
from seqlab.baselines.vector_ranker import (
    DIMENSIONS,
    VectorRanker,
    count_terms,
    largest_factors,
    matrix_shape,
    normalized,
)
from seqlab.data.documents.document import Document


class Lsa(VectorRanker):
    def __init__(self, terms: Terms, idf_V: np.ndarray, directions_VD: np.ndarray):
        self.about = f"TF-IDF on word stems, reduced to {directions_VD.shape[1]} dimensions (LSA)"
        self._terms, self._idf_V, self._directions_VD = terms, idf_V, directions_VD

    @classmethod
    def fit(cls, documents: Iterable[Document], dimensions: int = DIMENSIONS) -> "Lsa":
        terms = Terms()
        counts_NV = count_terms((terms.learn(document.with_title) for document in documents), terms)
        having_V = np.bincount(counts_NV.indices, minlength=len(terms))
        idf_V = (1 + np.log((1 + matrix_shape(counts_NV)[0]) / (1 + having_V))).astype(np.float32)
        weights_NV = _weights(counts_NV, idf_V)
        directions_VD, values_D = largest_factors(weights_NV, dimensions)
        # the first directions say what all documents are about: less of them ranks better
        lsa = cls(terms, idf_V, directions_VD / np.sqrt(np.maximum(values_D, 1e-6)))
        lsa.vectors_ND = normalized(weights_NV @ lsa._directions_VD)
        return lsa

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        counts_NV = count_terms((self._terms.known(text) for text in texts), self._terms)
        return normalized(_weights(counts_NV, self._idf_V) @ self._directions_VD)


def _weights(counts_NV: csr_matrix, idf_V: np.ndarray) -> csr_matrix:
    """TF-IDF, of length 1."""
    weights_NV = counts_NV.copy()
    weights_NV.data = (1 + np.log(counts_NV.data)) * idf_V[counts_NV.indices]
    length_N = np.sqrt(weights_NV.power(2).sum(axis=1)).A1
    return csr_matrix(diags_array(1 / np.maximum(length_N, 1e-9)) @ weights_NV, dtype=np.float32)
