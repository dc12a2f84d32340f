"""Vectors of tokens from the company they keep: positive pointwise mutual information, factored (Levy et al. 2015).

    PPMI(t, c) = max(0, ln(p(t, c) / (p(t) p'(c))))     for tokens t and c within `WINDOW` of each other

p' flattens the frequencies of contexts, or rare ones would dominate. The vectors are the singular vectors of the
largest singular values, times their roots.
V: tokens, C: those that are counted, D: dimensions, E: all tokens of the texts, end to end.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from seqlab.baselines.vector_ranker import largest_factors, normalized

WINDOW = 10  # tokens on either side
FLATTENING = 0.75
MAX_COUNTED_TOKENS = 10_000_000  # of the texts, from the beginning
MAX_VOCABULARY = 50_000  # the most frequent ones get vectors
CHUNK = 1 << 21  # pairs that are counted at a time


class TokenVectors(NamedTuple):
    """A vector of length 1 for each token (V, D), zeros where it has none; how many tokens were read, how many distinct
    ones are among them, and how many of those have a vector."""

    vectors_VD: np.ndarray
    read: int
    distinct: int
    kept: int


def token_vectors(texts: Iterable[Sequence[int]], vocabulary: int, dimensions: int) -> TokenVectors:
    """From texts as ids below `vocabulary`. There are fewer dimensions where there are fewer tokens."""
    ids_E, text_E = _flat(texts)
    counts_V = np.bincount(ids_E, minlength=vocabulary)
    often = np.argsort(-counts_V, kind="stable")[:MAX_VOCABULARY]
    counted = np.sort(often[counts_V[often] > 0])
    vectors_VD = np.zeros((vocabulary, min(dimensions, max(1, len(counted)))), np.float32)
    if len(counted):
        place_V = np.full(vocabulary, -1, np.int32)
        place_V[counted] = np.arange(len(counted))
        ppmi_CC = ppmi(count_pairs(place_V[ids_E], text_E, len(counted)))
        directions_CD, values_D = largest_factors(ppmi_CC, dimensions)
        vectors_VD[counted] = normalized(directions_CD * np.sqrt(values_D))
    return TokenVectors(vectors_VD, len(ids_E), int((counts_V > 0).sum()), len(counted))


def _flat(texts: Iterable[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The ids of all tokens, and which text each belongs to."""
    ids, lengths = array("i"), array("i")
    for text in texts:
        ids.extend(text)
        lengths.append(len(text))
        if len(ids) >= MAX_COUNTED_TOKENS:
            break
    text_E = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return np.array(ids, np.int32)[:MAX_COUNTED_TOKENS], text_E[:MAX_COUNTED_TOKENS]


def count_pairs(ids_E: np.ndarray, text_E: np.ndarray, tokens: int) -> csr_matrix:
    """How often each token is within the window of each other (C, C); ids below 0 are not counted."""
    pairs_CC = csr_matrix((tokens, tokens), dtype=np.float32)
    for first in range(0, len(ids_E), CHUNK // WINDOW):
        rows, columns = [], []
        for distance in range(1, WINDOW + 1):
            one = slice(first, max(first, min(first + CHUNK // WINDOW, len(ids_E) - distance)))
            other = slice(one.start + distance, one.stop + distance)
            kept = (text_E[one] == text_E[other]) & (ids_E[one] >= 0) & (ids_E[other] >= 0)
            rows.append(ids_E[one][kept])
            columns.append(ids_E[other][kept])
        row, column = np.concatenate(rows), np.concatenate(columns)
        pairs_CC += csr_matrix((np.ones(len(row), np.float32), (row, column)), (tokens, tokens))
    return csr_matrix(pairs_CC + pairs_CC.T)


def ppmi(pairs_CC: csr_matrix) -> csr_matrix:
    """A row for each context, a column for each token; with equal windows on both sides the pairs are symmetric."""
    token_C = np.asarray(pairs_CC.sum(axis=0)).ravel()
    context_C = token_C**FLATTENING
    pairs = pairs_CC.tocoo()
    information = np.log(pairs.data * (context_C.sum() / context_C[pairs.row]) / token_C[pairs.col])
    kept = information > 0
    entries = (information[kept].astype(np.float32), (pairs.row[kept], pairs.col[kept]))
    return csr_matrix(entries, pairs_CC.shape)
