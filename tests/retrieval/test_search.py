"""What a search finds, what it shows of it, and what it says when there is nothing to find."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from seqlab import api
from seqlab.baselines.terms import Terms
from seqlab.errors import UsageError
from seqlab.retrieval import dense
from seqlab.retrieval.dense import ApproximateSearch, ExactSearch, measured_recall, recall_at
from seqlab.retrieval.fusion import scaled
from seqlab.retrieval.index import Index
from seqlab.retrieval.progress import WorkProgress
from seqlab.retrieval.search import By
from seqlab.retrieval.snippets import SHOWN, snippet

TEXTS = {
    "otter": ("The otter", "the otter swims in the sea and eats fish"),
    "dog": ("The dog", "the dog ran to the mat and sat on it"),
    "cat": ("The cat", "the cat sat on the mat " + "and the mat lay on the floor " * 100 + "where a zebra slept"),
    "mat": ("Mats", "a mat is a mat"),
}


@pytest.fixture(scope="module")
def index(language_run: api.Run, tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("searched")
    rows = [json.dumps({"_id": name, "title": title, "text": text}) for name, (title, text) in TEXTS.items()]
    (folder / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return api.index(folder / "a.jsonl", folder / "i", run=language_run, progress=WorkProgress()).index


def test_words_find_the_document_and_its_best_passage(index: Index) -> None:
    result = api.search(index, "where do zebras sleep", by="bm25")
    hit = result.hits[0]
    assert (hit.id, hit.rank, hit.title) == ("cat", 1, "The cat") and hit.start > 0 and hit.text.endswith("zebra slept")
    assert hit.text == TEXTS["cat"][1][hit.start : hit.end]
    marked = [hit.snippet.text[start:end] for start, end in hit.snippet.marked]
    assert marked == ["where", "zebra"] and len(hit.snippet.text) <= SHOWN + 4
    parts = hit.parts["bm25"]
    assert sum(parts["words"].values()) == pytest.approx(parts["score"], rel=1e-5) == hit.score
    assert [hit.id for hit in api.search(index, "swimming otters", by="bm25").hits] == [
        "otter"
    ]  # no others have a word
    assert len(api.search(index, "the mat", k=2, by="bm25").hits) == 2
    json.dumps(result.as_dict())


def test_dense_search_is_the_cosine(index: Index) -> None:
    result = api.search(index, "the dog ran", by="dense")
    assert len(result.hits) == 4
    cosines_N = index.exact.vectors_ND.numpy() @ index.embed(["the dog ran"])[0]
    assert result.hits[0].score == pytest.approx(cosines_N.max(), abs=1e-6)
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True) and all(-1.001 <= score <= 1.001 for score in scores)


def test_a_hybrid_weighs_both(index: Index) -> None:
    query = "the dog ran"
    for weight in (0.0, 0.3, 1.0):
        hits = api.search(index, query, weight=weight).hits
        bm25_N, dense_N = (scaled(index.passage_scores([query], by))[0] for by in ("bm25", "dense"))
        expected_M = index.best_passages(((1 - weight) * bm25_N + weight * dense_N)[None])[0]
        assert [hit.score for hit in hits] == pytest.approx(sorted(expected_M, reverse=True), abs=1e-6)
    parts = api.search(index, query).hits[0].parts
    total = 0.7 * parts["bm25"]["scaled"] + 0.3 * parts["dense"]["scaled"]
    assert total == pytest.approx(api.search(index, query).hits[0].score, abs=1e-6)


def test_words_that_nobody_knows(index: Index) -> None:
    result = api.search(index, "xyzzy plugh", by="bm25")
    assert not result.hits and result.notes == ["no word of the query is in the documents: 'xyzzy', 'plugh'"]
    result = api.search(index, "dog xyzzy", by="bm25")
    assert result.hits[0].id == "dog" and result.notes == ["some words of the query are not in the documents: 'xyzzy'"]
    result = api.search(index, "ΩΩΩ", by="dense")
    assert not result.hits and "knows no token of the query" in result.notes[0]
    assert not api.search(index, "?!", by="bm25").hits and api.search(index, "?!", by="bm25").notes
    assert api.search(index, "ΩΩΩ dog").hits[0].id == "dog"


@pytest.mark.parametrize("by", ["dense", "hybrid"])
def test_what_the_model_does_not_know_of_a_query_is_said(index: Index, by: By) -> None:
    (note,) = [note for note in api.search(index, "the dog Ω漢", by=by).notes if "model" in note]
    assert note.startswith(
        "2 of 10 tokens of the query are unknown to the model: 'Ω' (U+03A9), '漢' (U+6F22) never occur"
    )
    assert not [note for note in api.search(index, "the dog", by=by).notes if "model" in note]


def test_a_query_of_a_megabyte(index: Index) -> None:
    for query in ("dog " * 250_000, "x" * 1_000_000):
        result = api.search(index, query)
        assert "1,000,000 characters: its first 10,000 are searched for" in result.notes[0]
        assert len(json.dumps(result.as_dict())) < 100_000
    assert api.search(index, "dog " * 250_000).hits[0].id == "dog"


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        ("", {}, "the query is empty"),
        (" \n", {}, "the query is empty"),
        ("dog", {"k": 0}, "expected 1 to 1,000"),
        ("dog", {"by": "magic"}, "no search by 'magic'"),
        ("dog", {"by": "bm25", "weight": 0.5}, "a weight does nothing in a search by bm25"),
        ("dog", {"weight": 2}, "from 0"),
        ("dog", {"engine": "hnsw"}, "by dense"),
        ("dog", {"by": "dense", "engine": "lsh"}, "no engine 'lsh'"),
        ("dog", {"top": 3}, "no option top"),
    ],
)
def test_wrong_searches(index: Index, query: str, options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        api.search(index, query, **options)


def test_an_index_of_words_alone(index: Index, tmp_path: Path) -> None:
    built = api.index(index.path.parent / "a.jsonl", tmp_path / "w", vectors=False, progress=WorkProgress()).index
    assert api.search(built, "zebra").by == "bm25" and api.search(built, "zebra").hits[0].id == "cat"
    with pytest.raises(UsageError, match="has no vectors"):
        api.search(built, "zebra", by="dense")


# --- vectors ----------------------------------------------------------------------------------------------------------


def drawn(count: int, dimensions: int = 16) -> np.ndarray:
    vectors_ND = np.random.default_rng(0).normal(size=(count, dimensions)).astype(np.float32)
    return vectors_ND / np.linalg.norm(vectors_ND, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [1, 5, 63, 64, 65, 4000])
@pytest.mark.parametrize("queries", [1, 7])
def test_exact_search_is_exact(count: int, queries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "SCORES", 3 * count)  # several batches
    vectors_ND, queries_QD = drawn(count), drawn(queries)
    found = ExactSearch(vectors_ND).nearest(queries_QD, 10)
    scores_QN = queries_QD @ vectors_ND.T
    order_QK = np.argsort(-scores_QN, axis=1, kind="stable")[:, :10]
    np.testing.assert_allclose(found.scores_QK, np.take_along_axis(scores_QN, order_QK, 1), atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(scores_QN, found.rows_QK, 1), found.scores_QK, atol=1e-6)


@pytest.mark.parametrize("engine", ["hnsw", "ivf"])
def test_approximate_search_is_measured_against_exact_search(engine: dense.Engine) -> None:
    pytest.importorskip("faiss")
    vectors_ND = drawn(2000)
    exact, approximate = ExactSearch(vectors_ND), ApproximateSearch(vectors_ND, engine)
    assert 0.3 < measured_recall(approximate, exact) <= 1
    assert recall_at(10, exact, exact, vectors_ND[:20]) == 1
    assert (approximate.nearest(vectors_ND[:5], 1).rows_QK[:, 0] == np.arange(5)).all()
    assert engine in approximate.about.lower()


def test_without_faiss_the_error_names_the_package(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(UsageError, match=r"pip install 'seqlab\[retrieval\]'"):
        api.search(index, "the dog", by="dense", engine="hnsw")


def test_an_approximate_search_of_an_index(index: Index) -> None:
    pytest.importorskip("faiss")
    found = api.search(index, "the dog ran", by="dense", engine="hnsw")
    exact = api.search(index, "the dog ran", by="dense")
    assert [hit.id for hit in found.hits] == [hit.id for hit in exact.hits]
    assert "recall@10" in found.notes[0]


# --- snippets ---------------------------------------------------------------------------------------------------------


def test_a_snippet_shows_the_words_that_matter() -> None:
    text = f"{'the filler ' * 100}a rare otter swims{' the end' * 100}"
    shown = snippet(text, {"the": 0.1, "otter": 4.0, "swim": 3.0}, Terms())
    assert [shown.text[start:end] for start, end in shown.marked] == ["otter", "swims"]
    assert shown.text.startswith("… ") and shown.text.endswith(" …")
    assert snippet("short", {}, Terms()).text == "short" and snippet("short", {}, Terms()).marked == ()
    assert snippet("two\nlines", {"line": 1.0}, Terms()).text == "two lines"
    wide = snippet("x" * 5000 + " otter", {"otter": 1.0}, Terms())
    assert wide.text.endswith(" otter") and len(wide.text) <= SHOWN + 4
