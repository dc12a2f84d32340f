"""Vectors from co-occurrence, against counting by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from seqlab.baselines import cooccurrence
from seqlab.baselines.cooccurrence import FLATTENING, count_pairs, ppmi, token_vectors
from seqlab.baselines.vector_ranker import largest_factors

RNG = np.random.default_rng(0)
TEXTS = [RNG.integers(0, 6, size).tolist() for size in (40, 1, 0, 7, 30)]


def pairs_by_hand(window):
    pairs = np.zeros((6, 6))
    for text in TEXTS:
        for (first, one), (second, other) in combinations(enumerate(text), 2):
            if second - first <= window:
                pairs[one, other] += 1
                pairs[other, one] += 1
    return pairs


@pytest.mark.parametrize("chunk", [20, 1 << 20])
def test_pairs_within_the_window_and_within_one_text(monkeypatch, chunk):
    monkeypatch.setattr(cooccurrence, "CHUNK", chunk)
    ids_E = np.concatenate([np.array(text, np.int32) for text in TEXTS])
    text_E = np.repeat(np.arange(len(TEXTS)), [len(text) for text in TEXTS])
    np.testing.assert_array_equal(count_pairs(ids_E, text_E, 6).toarray(), pairs_by_hand(cooccurrence.WINDOW))


def test_the_equation_of_mutual_information():
    pairs = pairs_by_hand(3)
    token, context = pairs.sum(0) / pairs.sum(), pairs.sum(0) ** FLATTENING / (pairs.sum(0) ** FLATTENING).sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(0, np.log(pairs / pairs.sum() / (context[:, None] * token)))
    np.testing.assert_allclose(ppmi(csr_matrix(pairs)).toarray(), expected, rtol=1e-5)


def test_tokens_in_the_same_company_have_the_same_direction():
    """1 and 2 never meet, but both are between 3 and 4; 5 and 6 live elsewhere."""
    texts = [[3, 1, 4], [3, 2, 4], [5, 6, 5, 6]] * 20
    vectors_VD = token_vectors(texts, 9, 3).vectors_VD
    alike_VV = vectors_VD @ vectors_VD.T
    assert alike_VV[1, 2] > 0.9 and abs(alike_VV[1, 5]) < 0.1
    np.testing.assert_allclose(np.linalg.norm(vectors_VD, axis=1), [0, 1, 1, 1, 1, 1, 1, 0, 0], atol=1e-5)


def test_text_and_tokens_beyond_the_limits_are_left_out(monkeypatch):
    texts = [[0, 1, 0, 1], [2, 0, 1], [3, 3, 3]]
    assert token_vectors(texts, 4, 2).vectors_VD.any(1).all()
    monkeypatch.setattr(cooccurrence, "MAX_COUNTED_TOKENS", 6)
    vectors = token_vectors(texts, 4, 2)
    assert vectors.read == 6 and vectors.vectors_VD.any(1).tolist() == [True, True, True, False]
    monkeypatch.setattr(cooccurrence, "MAX_VOCABULARY", 2)
    assert token_vectors(texts, 4, 2).vectors_VD.any(1).tolist() == [True, True, False, False]


def test_factors_of_a_matrix_of_low_rank_are_exact():
    left, right = RNG.standard_normal((50, 4)), RNG.standard_normal((4, 30))
    matrix = csr_matrix((left * [8, 4, 2, 1]) @ right, dtype=np.float32)
    right_VD, values_D = largest_factors(matrix, 4)
    _, expected_D, expected_DV = np.linalg.svd(matrix.toarray())
    np.testing.assert_allclose(values_D, expected_D[:4], rtol=1e-4)
    np.testing.assert_allclose(np.abs(np.sum(right_VD.T * expected_DV[:4], axis=1)), 1, atol=1e-4)
    np.testing.assert_array_equal(right_VD, largest_factors(matrix, 4)[0])


def test_a_matrix_with_fewer_sides_than_dimensions():
    right_VD, values_D = largest_factors(csr_matrix(np.eye(3, 5), dtype=np.float32), 256)
    assert right_VD.shape == (5, 3)
    np.testing.assert_allclose(values_D, 1, atol=1e-5)
