"""What rankers by vectors share: the counts of terms, the largest factors of a matrix, and the cosine.

N: documents, Q: queries, D: dimensions, V: terms.
"""

import math
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix

from seqlab.errors import DataError

DIMENSIONS = 256
MARGIN = 32  # projections beyond the wanted dimensions
ROUNDS = 2  # of multiplying with the matrix and its transpose: what is small fades


class VectorRanker(ABC):
    """Documents and queries as vectors of length 1. A query without a known word finds nothing."""

    floor = -math.inf
    about: str
    vectors_ND: np.ndarray

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(N, D) in float32, of length 1; zeros for a text without a known word."""

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        queries_QD = self.embed(queries)
        scores_QN = queries_QD @ self.vectors_ND.T
        scores_QN[~queries_QD.any(1)] = -math.inf
        return scores_QN


def count_terms(rows: Iterable[Sequence[int]], terms: Sized) -> csr_matrix:
    """How often each text has each term, (N, V), from the ids of its terms; `terms` may grow meanwhile."""
    indices, data, ends = array("i"), array("f"), array("q", [0])
    for ids in rows:
        counts = Counter(ids)
        indices.extend(counts)
        data.extend(counts.values())
        ends.append(len(indices))
    if not len(terms):
        raise DataError("no document has a word to search for: give documents with text.")
    return csr_matrix((np.array(data), np.array(indices), np.array(ends)), (len(ends) - 1, len(terms)), np.float32)


def matrix_shape(matrix: csr_matrix) -> tuple[int, int]:
    return cast(tuple[int, int], matrix.shape)  # scipy does not declare it


def normalized(vectors_ND: np.ndarray) -> np.ndarray:
    """Of length 1; a vector of zeros stays."""
    length_N = np.linalg.norm(vectors_ND, axis=1, keepdims=True)
    return (vectors_ND / np.where(length_N > 0, length_N, 1)).astype(np.float32, copy=False)


def largest_factors(matrix_NV: csr_matrix, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """The right singular vectors (V, D) of the largest singular values, and these (D), largest first.

    By random projections, P of them (Halko et al. 2011): near enough, several times as fast as exact, and equal for
    equal matrices. There are fewer dimensions where the matrix has fewer rows or columns."""
    rows, columns = matrix_shape(matrix_NV)
    projections = min(dimensions + MARGIN, rows, columns)
    basis_VP = np.random.default_rng(0).standard_normal((columns, projections), np.float32)
    basis_NP = np.linalg.qr(matrix_NV @ basis_VP)[0]
    for _ in range(ROUNDS):
        basis_VP = np.linalg.qr(matrix_NV.T @ basis_NP)[0]
        basis_NP = np.linalg.qr(matrix_NV @ basis_VP)[0]
    right_VP, values_P, _ = np.linalg.svd(matrix_NV.T @ basis_NP, full_matrices=False)
    return right_VP[:, :dimensions], values_P[:dimensions]
