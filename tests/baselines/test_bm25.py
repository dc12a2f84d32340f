"""BM25 against its equation."""

import math
from collections import Counter

import numpy as np
import pytest

from seqlab.baselines.bm25 import K1, B, Bm25
from seqlab.baselines.ranker import rank_queries
from seqlab.data.documents.document import Document
from seqlab.errors import DataError

DOCUMENTS = [
    Document("short", "The cat sat."),
    Document("long", "A cat and another cat watched the dogs that were barking in the yard of the house", "Animals"),
    Document("none", "Nothing of interest"),
    Document("empty", ""),
]
STEMS = [  # worked by hand
    "the cat sat",
    "anim a cat and anoth cat watch the dog that were bark in the yard of the hous",
    "noth of interest",
    "",
]
WORDS = [stems.split() for stems in STEMS]


@pytest.fixture(scope="module")
def bm25() -> Bm25:
    return Bm25.fit(DOCUMENTS)


def by_equation(stems: list[str]) -> list[float]:
    mean = np.mean([len(words) for words in WORDS])
    scores = []
    for words in WORDS:
        score, counts = 0.0, Counter(words)
        for stem in stems:
            having = sum(stem in other for other in WORDS)
            idf = math.log(1 + (len(WORDS) - having + 0.5) / (having + 0.5))
            score += idf * counts[stem] / (counts[stem] + K1 * (1 - B + B * len(words) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(
    ("query", "stems"),
    [
        ("CATS", ["cat"]),
        ("the watching animal", ["the", "watch", "anim"]),
        ("cat cat dog", ["cat", "cat", "dog"]),
        ("dog unheard-of", ["dog", "of"]),
    ],
)
def test_the_equation(bm25, query, stems):
    np.testing.assert_allclose(bm25.scores([query]), [by_equation(stems)], rtol=1e-5)


def test_queries_at_once_score_as_one_by_one(bm25):
    queries = ["cat", "", "zebra", "?!", "the house of dogs"]
    scores_QN = bm25.scores(queries)
    assert scores_QN.dtype == np.float32
    np.testing.assert_array_equal(scores_QN, [bm25.scores([query])[0] for query in queries])
    assert not scores_QN[1:4].any()


def test_only_documents_that_share_a_word_are_found(bm25):
    ids = [document.id for document in DOCUMENTS]
    assert rank_queries(bm25, ["cat", "zebra", "interest"], ids) == [["short", "long"], [], ["none"]]


def test_the_parts_of_a_score_are_those_of_its_words(bm25):
    parts = bm25.parts("A zebra, a cat, the nothing", 1)
    assert list(parts) == ["a", "cat", "the"]
    assert sum(parts.values()) == pytest.approx(float(bm25.scores(["A zebra, a cat, the nothing"])[0, 1]))
    assert parts["a"] == pytest.approx(2 * bm25.parts("a", 1)["a"])
    assert bm25.parts("cat", 3) == {}


def test_the_same_from_its_arrays(bm25):
    copy = Bm25.from_arrays({name: array.copy() for name, array in bm25.arrays().items()})
    queries = ["cat", "the house of dogs", "zebra"]
    np.testing.assert_array_equal(copy.scores(queries), bm25.scores(queries))


@pytest.mark.parametrize("documents", [[], [Document("a", " ?! ")]])
def test_documents_without_a_word_are_refused(documents):
    with pytest.raises(DataError, match="no document has a word"):
        Bm25.fit(documents)
