"""An index on judged queries: every way to search it, and what is said about training queries."""

import json
from pathlib import Path
from typing import Any

import pytest

from seqlab import api
from seqlab.data.documents.python_docs import python_sections
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.retrieval import index_evaluation
from seqlab.retrieval.index import Index
from seqlab.retrieval.index_evaluation import evaluate_index
from seqlab.retrieval.judged import open_judged
from seqlab.retrieval.progress import WorkProgress
from tests.retrieval.conftest import write_documents

QUERIES = {"1": "document 3 cat sat", "2": "document 7 the dog", "3": "ran to the sea 11", "4": "mat 20", "5": "mat 30"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    write_documents(folder / "documents.jsonl")
    lines = [json.dumps({"_id": name, "text": text}) for name, text in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "test.tsv").write_text("1\td3\t1\n2\td7\t1\n3\td11\t1\n3\td12\t1\n", encoding="utf-8")
    (folder / "learned.tsv").write_text("doc asked rel\nd20 4 1\nd30 5 1\nd11 5 1\nd31 9 1\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(folder: Path, language_run: api.Run) -> Index:
    return api.index(folder / "documents.jsonl", folder / "i", run=language_run, progress=WorkProgress()).index


@pytest.fixture(scope="module")
def words_index(folder: Path) -> Index:
    return api.index(folder / "documents.jsonl", folder / "w", vectors=False, progress=WorkProgress()).index


def test_every_way_to_search_beside_baselines_and_memory(folder: Path, index: Index) -> None:
    found = evaluate_index(index, folder / "queries.jsonl", folder / "test.tsv", folder / "learned.tsv")
    assert list(found.sums) == [
        "BM25", "dense", "hybrid", "reciprocal ranks", "static vectors", "TF-IDF + LSA", "nearest training query",
        "BM25 + training queries", "BM25 + static vectors",
    ]  # fmt: skip
    assert found.as_dict()["queries"] == {"all": 3, "seen": 1, "unseen": 2}
    assert {(pair.a, pair.b) for pair in found.pairs} | {(pair.b, pair.a) for pair in found.pairs} >= {
        ("hybrid", "BM25"), ("dense", "BM25"), ("dense", "static vectors"),
    }  # fmt: skip
    notes = " ".join(found.notes)
    assert "1 training query of learned.tsv without a text among the queries" in notes
    assert "columns of learned.tsv by their position: 'asked' as the query, 'doc' as the document" in notes
    assert "0 of 0 queries of 20 characters or more" in notes and "are near copies of training queries" in notes
    assert "chosen on 2 training queries in 2 folds" in notes and "search with it: --weight 0." in notes
    json.dumps(found.as_dict())


def test_a_hybrid_ranks_as_search_does(folder: Path, index: Index) -> None:
    found = evaluate_index(index, folder / "queries.jsonl", folder / "test.tsv", weight=0.4, baselines=False)
    for place, query in enumerate(found.queries):
        hits = [hit.id for hit in api.search(index, query.text, 5, by="hybrid", weight=0.4).hits]
        assert found.rankings["hybrid"][place][:5] == hits
    assert "0.40 x vectors" in found.about["hybrid"]
    for by, name in (("bm25", "BM25"), ("dense", "dense")):
        hits = [hit.id for hit in api.search(index, found.queries[0].text, 3, by=by).hits]
        assert found.rankings[name][0][:3] == hits


def test_a_model_that_learned_queries_is_weighed_by_those_that_it_did_not(folder, index, monkeypatch) -> None:
    monkeypatch.setattr(index_evaluation, "_trained_on_queries", lambda index: True)
    found = evaluate_index(index, folder / "queries.jsonl", folder / "test.tsv", folder / "learned.tsv")
    # a tenth of two training queries is one, and one query has no folds
    assert any("the weight of the vectors is 0.3: a weight cannot be tuned on 1 " in note for note in found.notes)


@pytest.fixture(scope="module")
def sections(folder: Path) -> Index:
    return api.index("python-sections", folder / "sections", vectors=False, progress=WorkProgress()).index


def test_a_collection_is_asked_by_its_name(sections: Index) -> None:
    found = evaluate_index(sections, "python-sections")
    expected = python_sections()
    assert [query.id for query in found.queries] == [query.id for query in expected.queries["test"]]
    assert list(found.parts) == ["all", "unseen"]  # every document answers one query
    assert found.value("nearest training query").value == 0
    (pair,) = found.pairs
    assert {pair.a, pair.b} == {"BM25", "BM25 + static vectors"}
    validated = evaluate_index(sections, "python-sections", "validation", baselines=False)
    assert len(validated.queries) == len(expected.queries["validation"])
    trained = evaluate_index(sections, "python-sections", "train", baselines=False)
    assert list(trained.parts) == ["all"] and any("without judgments of training" in note for note in trained.notes)


def test_a_model_that_learned_a_collection_did_not_learn_its_validation_queries(sections: Index) -> None:
    collection, ids = python_sections(), [document.id for document in sections.documents.read()]
    training = open_judged("python-sections", None, None, ids).training
    assert training is not None and training.queries == collection.queries["train"]
    assert training.held_out == collection.queries["validation"]
    assert training.held_out_qrels == collection.qrels["validation"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"qrels": "dev"}, "has no queries to dev: expected --qrels of train, validation, test"),
        ({"training": "x.tsv"}, "--training does nothing for a collection"),
    ],
)
def test_a_collection_has_splits_of_its_own(sections: Index, options, reason) -> None:
    with pytest.raises(UsageError, match=reason):
        evaluate_index(sections, "python-sections", **options)


def test_queries_need_judgments(folder: Path, words_index: Index) -> None:
    with pytest.raises(UsageError, match="name the documents that answer them, too: --qrels FILE"):
        evaluate_index(words_index, folder / "queries.jsonl")


def test_training_queries_are_found_beside_the_judgments(folder: Path, words_index: Index, tmp_path: Path) -> None:
    for source, name in (("test.tsv", "test.tsv"), ("learned.tsv", "train.tsv")):
        (tmp_path / name).write_bytes((folder / source).read_bytes())
    found = evaluate_index(words_index, folder / "queries.jsonl", tmp_path / "test.tsv", baselines=False)
    assert list(found.sums) == ["BM25"] and not found.pairs and list(found.parts) == ["all", "seen", "unseen"]
    assert any("train.tsv, found beside the judgments" in note for note in found.notes)
    scored = evaluate_index(words_index, folder / "queries.jsonl", tmp_path / "train.tsv", baselines=False)
    assert list(scored.parts) == ["all"]
    assert any("without judgments of training queries" in note for note in scored.notes)


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"training": "test.tsv"}, UsageError, "has the judgments to score, and was given as those of training"),
        ({"training": "gone.tsv"}, MissingInput, "no file"),
        ({"weight": 0.5}, UsageError, "has no vectors to weigh"),
        ({"queries": "gone.jsonl"}, MissingInput, "no file or folder"),
        ({"qrels": "documents.jsonl"}, DataError, "expected query, document and relevance"),
    ],
)
def test_what_is_refused(folder: Path, words_index: Index, options, error, reason) -> None:
    paths = {"queries": "queries.jsonl", "qrels": "test.tsv", **options}
    given: dict[str, Any] = {name: folder / at if isinstance(at, str) else at for name, at in paths.items()}
    with pytest.raises(error, match=reason):
        evaluate_index(words_index, **given)


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan")])
def test_a_weight_is_a_share(folder: Path, index: Index, weight: float) -> None:
    with pytest.raises(UsageError, match="expected a number from 0"):
        evaluate_index(index, folder / "queries.jsonl", folder / "test.tsv", weight=weight)


def test_an_option_that_does_not_exist(folder: Path, words_index: Index) -> None:
    with pytest.raises(UsageError, match="there is no option metric"):
        api.evaluate_index(words_index, folder / "queries.jsonl", folder / "test.tsv", metric="mrr")
