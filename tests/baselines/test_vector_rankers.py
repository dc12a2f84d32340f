"""LSA and static vectors: what they compute, and that they find what shares no word with the query."""

import numpy as np
import pytest

from seqlab.baselines.lsa import Lsa
from seqlab.baselines.ranker import rank_queries
from seqlab.baselines.static_vectors import A, StaticVectors
from seqlab.data.documents.document import Document
from seqlab.errors import DataError

# "car" and "automobile" never meet, but both have engines and wheels
TEXTS = {
    "car": "a car has an engine and wheels, drive the car on the road",
    "automobile": "the automobile with its engine and wheels, drive on a road",
    "engine": "engine, wheels, road: drive",
    "cat": "the cat likes milk and sleep, fur and paws",
    "kitten": "a kitten with fur and paws likes milk and sleep",
    "fur": "fur, paws, milk, sleep",
}
DOCUMENTS = [Document(name, text) for name, text in TEXTS.items()]
RANKERS = [Lsa, StaticVectors]


@pytest.mark.parametrize("kind", RANKERS)
def test_documents_are_found_by_related_words(kind):
    ranker = kind.fit(DOCUMENTS, 2)
    first, second = rank_queries(ranker, ["automobile", "kitten"], list(TEXTS), depth=3)
    assert {*first} == {"car", "automobile", "engine"}
    assert {*second} == {"cat", "kitten", "fur"}


@pytest.mark.parametrize("kind", RANKERS)
def test_vectors_have_length_1_and_scores_are_their_cosine(kind):
    ranker = kind.fit(DOCUMENTS, 3)
    assert ranker.vectors_ND.shape == (6, 3) and ranker.vectors_ND.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(ranker.vectors_ND, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(ranker.embed([*TEXTS.values()]), ranker.vectors_ND, atol=1e-5)
    queries = ["milk", "a fast road"]
    np.testing.assert_allclose(ranker.scores(queries), ranker.embed(queries) @ ranker.vectors_ND.T, atol=1e-6)
    np.testing.assert_array_equal(kind.fit(DOCUMENTS, 3).vectors_ND, ranker.vectors_ND)


@pytest.mark.parametrize("kind", RANKERS)
def test_a_query_without_a_known_word_finds_nothing(kind):
    ranker = kind.fit(DOCUMENTS, 2)
    assert rank_queries(ranker, ["", "?!", "zebra"], list(TEXTS)) == [[], [], []]
    assert not ranker.embed(["zebra"]).any()


@pytest.mark.parametrize("kind", RANKERS)
def test_documents_without_words(kind):
    with pytest.raises(DataError, match="no document has a word"):
        kind.fit([Document("a", "?!")])
    few = kind.fit([Document("a", "red fox and red fox"), Document("b", ""), Document("c", "old dog and old dog")])
    assert few.scores(["fox"]).argmax() == 0 and not few.vectors_ND[1].any()


def test_static_vectors_are_weighted_means_without_the_common_direction():
    table_VD = np.array([[1, 0], [0, 2], [3, 3.0]])  # normalized first
    texts = ["0 0 1", "0 2", "0 0 0"]
    ranker = StaticVectors.from_table(
        lambda text: [int(word) for word in text.split()], table_VD, [Document(text, text) for text in texts]
    )
    frequency = np.array([6, 1, 1]) / 8
    unit = np.array([[1, 0], [0, 1], [np.sqrt(0.5), np.sqrt(0.5)]])
    weighted = unit * (A / (A + frequency))[:, None]
    means = np.array([2 * weighted[0] + weighted[1], weighted[0] + weighted[2], 3 * weighted[0]])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    common = np.linalg.svd(means)[2][0]
    rest = means - np.outer(means @ common, common)
    np.testing.assert_allclose(ranker.vectors_ND, rest / np.linalg.norm(rest, axis=1, keepdims=True), atol=1e-4)


def test_how_much_was_read_is_said(monkeypatch):
    from seqlab.baselines import cooccurrence

    assert "counted" not in StaticVectors.fit(DOCUMENTS, 2).about
    monkeypatch.setattr(cooccurrence, "MAX_COUNTED_TOKENS", 20)
    words = sum(len(text.replace(",", "").split()) for text in TEXTS.values())
    assert f"(20 of {words} words counted)" in StaticVectors.fit(DOCUMENTS, 2).about


def test_words_that_are_too_rare_for_a_vector_are_said(monkeypatch):
    from seqlab.baselines import cooccurrence

    assert "most frequent" not in StaticVectors.fit(DOCUMENTS, 2).about
    monkeypatch.setattr(cooccurrence, "MAX_VOCABULARY", 3)
    assert "(the 3 most frequent of " in StaticVectors.fit(DOCUMENTS, 2).about
