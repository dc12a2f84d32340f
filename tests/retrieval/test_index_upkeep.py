"""What an index keeps, refuses to lose, and says about itself: sources, weights, damage, and texts it cannot read."""

import json
import math
from pathlib import Path

import pytest
from search_cases import write_documents

from seqlab import api
from seqlab.cli.search import explanation
from seqlab.errors import DataError, UsageError
from seqlab.retrieval.build import build_index
from seqlab.retrieval.corpus_vectors import Source, VectorSettings
from seqlab.retrieval.directory import IndexDirectory
from seqlab.retrieval.index import Index
from seqlab.retrieval.progress import WorkProgress
from seqlab.tasks.retrieval_wording import FEW_QUERIES, chance_note

QUIET = WorkProgress()


@pytest.fixture
def judged(documents: Path) -> Path:
    """Documents, and queries of which the model knows no token of the third."""
    asked = {"1": "the cat sat", "2": "the dog ran to the sea", "3": "ΩΩΩ", "4": "the mat", "5": "dog and cat"}
    rows = [json.dumps({"_id": name, "text": text}) for name, text in asked.items()]
    (documents.parent / "queries.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (documents.parent / "test.tsv").write_text("1\td3\t1\n2\td7\t1\n3\td9\t1\n", encoding="utf-8")
    (documents.parent / "learned.tsv").write_text("4\td20\t1\n5\td30\t1\n", encoding="utf-8")
    return documents.parent


@pytest.fixture
def index(judged: Path, language_run: api.Run, tmp_path: Path) -> Index:
    return api.index(judged / "documents.jsonl", tmp_path / "i", run=language_run, progress=QUIET).index


def test_a_query_that_search_answers_with_nothing_has_no_hits_in_an_evaluation(judged: Path, index: Index) -> None:
    found = api.evaluate_index(index, judged / "queries.jsonl", judged / "test.tsv", baselines=False)
    for ranker, by in {"BM25": "bm25", "dense": "dense", "hybrid": "hybrid"}.items():
        assert not api.search(index, "ΩΩΩ", by=by).hits
        assert not found.rankings[ranker][2] and len(found.rankings[ranker][0]) > 0
    assert not found.rankings["reciprocal ranks"][2]
    assert all(not sums[2, 0] for sums in found.sums["dense"].values())


def test_a_query_that_only_words_can_read_finds_in_both_the_same(judged: Path, index: Index) -> None:
    rows = [{"_id": f"d{number}", "text": f"ΩΩΩ the {'ΩΩΩ ' * number}"} for number in range(1, 5)]
    (judged / "omega.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"_id": "d9", "text": "the mat"}])))
    other = api.index(judged / "omega.jsonl", judged / "o", run=index.embedder.run, progress=QUIET).index
    found = api.evaluate_index(other, judged / "queries.jsonl", judged / "test.tsv", baselines=False)
    assert found.rankings["hybrid"][2] == [hit.id for hit in api.search(other, "ΩΩΩ").hits]
    assert {*found.rankings["hybrid"][2]} == {"d1", "d2", "d3", "d4"}


def test_a_weight_is_kept_until_the_vectors_are_others(judged: Path, index: Index) -> None:
    queries, test, learned = judged / "queries.jsonl", judged / "test.tsv", judged / "learned.tsv"
    with pytest.raises(UsageError, match="no weight can be kept"):
        api.evaluate_index(index, queries, test, keep_weight=True, baselines=False)
    tuned = api.evaluate_index(index, queries, test, learned, baselines=False)
    assert "--keep-weight" in " ".join(tuned.notes) and Index(index.path).weight is None
    api.evaluate_index(index, queries, test, learned, keep_weight=True, baselines=False)
    assert Index(index.path).weight is not None
    found = api.evaluate_index(index, queries, test, weight=0.8, keep_weight=True, baselines=False)
    assert "keeps the weight 0.8" in " ".join(found.notes)
    result = api.search(index.path, "the dog ran")
    assert result.kept_weight and result.hits[0].parts["weight"] == 0.8
    assert "the one that the index keeps" in explanation(result.hits[0], result.kept_weight)[-1]
    assert not api.search(index.path, "the dog ran", weight=0.5).kept_weight
    documents = judged / "documents.jsonl"
    documents.write_text(documents.read_text() + '\n{"_id": "new", "text": "a new one"}')
    assert api.index(documents, index.path, progress=QUIET).index.weight == 0.8
    changed = api.index(documents, index.path, progress=QUIET, dimensions=3)
    assert changed.index.weight is None and "0.80 that was kept is dropped" in " ".join(changed.notes)


def test_a_kept_weight_needs_vectors(judged: Path, tmp_path: Path) -> None:
    words = api.index(judged / "documents.jsonl", tmp_path / "w", vectors=False, progress=QUIET).index
    with pytest.raises(UsageError, match="has no vectors to weigh"):
        api.evaluate_index(words, judged / "queries.jsonl", judged / "test.tsv", keep_weight=True)


def test_an_index_of_other_sources_is_not_replaced_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = write_documents(tmp_path / "first.jsonl", 12), tmp_path / "second.jsonl"
    second.write_text('{"_id": "other", "text": "another text"}')
    out = tmp_path / "i"
    api.index("first.jsonl", out, vectors=False, progress=QUIET)
    with pytest.raises(UsageError, match=r"an index of 'first.jsonl', and 'first.jsonl' is not named now.*--overwrite"):
        api.index(second, out, vectors=False, progress=QUIET)
    assert Index(out).facts["documents"] == 12
    assert api.index(first, out, vectors=False, progress=QUIET).removed == 0  # the same file, by its whole path
    assert api.index([first, second], out, vectors=False, progress=QUIET).added == 1
    replaced = api.index(second, out, vectors=False, overwrite=True, progress=QUIET)
    assert (replaced.removed, replaced.index.facts["documents"]) == (12, 1)
    source = Source((str(first),))
    with pytest.raises(UsageError, match="--overwrite"):
        build_index(source, out, None, VectorSettings(), QUIET, vectors=False)


@pytest.mark.parametrize("content", [b"", b"hello", b'{"files": {', b"[]"])
def test_a_damaged_manifest_is_one_story(documents: Path, tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "i"
    api.index(documents, out, vectors=False, progress=QUIET)
    (out / "manifest.json").write_bytes(content)
    assert IndexDirectory(out).is_index()
    with pytest.raises(DataError, match=r"is damaged.*Build the index again"):
        api.search(out, "the dog")
    report = api.index(documents, out, vectors=False, progress=QUIET)
    assert "is damaged and is built anew" in report.notes[0] and api.search(out, "the dog").hits


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ('"the dog" ran', "quotes"),
        ("dog -cat", "a leading minus"),
        ("dog NOT cat", "AND, OR and NOT"),
        ("+dog", "a leading plus"),
        ("do*", "an asterisk"),
        ("title:dog", "a field before a colon"),
        ("the dog~ ran", "a tilde"),
        ("the d?g ran", "a question mark within a word"),
        ("dog^2", "a caret"),
        ("guide to C#", "marks after a letter, as in C# and C++"),
    ],
)
def test_operators_are_said_to_be_words(documents: Path, tmp_path: Path, query: str, named: str) -> None:
    index = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).index
    notes = api.search(index, query).notes
    assert f"not supported, and read as words: {named}" in notes
    for plain in (
        "the well-known dog",
        "see https://a.org",
        "std::sort",
        "at 12:30",
        "dog: a note",
        "a dog?",
        "3 - 2",
        "5'10\" dog",
        "a dog or not",
        "dog's",
    ):
        assert "not supported" not in " ".join(api.search(index, plain).notes)


def test_a_score_on_few_queries_says_what_chance_has() -> None:
    assert chance_note({"queries": FEW_QUERIES, "documents": 50}) == ""
    note = chance_note({"queries": 3, "documents": 3})
    assert f"a random order has {(1 + 1 / math.log2(3) + 0.5) / 3:.2f}" in note and "3 queries" in note
    assert "has 0.05" in chance_note({"queries": 5, "documents": 100})  # 4.54 / 100
