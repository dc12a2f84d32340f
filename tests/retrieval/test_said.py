"""What commands of retrieval say about what they leave out, remove or cannot read."""

import json
from pathlib import Path
from typing import Any

import pytest
from search_cases import write_documents

from seqlab import api
from seqlab.errors import SeqlabError, UsageError
from seqlab.retrieval.index import Index
from seqlab.retrieval.map import map_index, neighbors
from seqlab.retrieval.progress import WorkProgress

QUIET = WorkProgress()


def test_removed_vectors_are_said(language_run: api.Run, documents: Path, tmp_path: Path) -> None:
    index = api.index(documents, tmp_path / "i", run=language_run, progress=QUIET).index
    index.directory.keep_weight(0.4)
    notes = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).notes
    number = index.facts["passages"]
    assert notes == [
        f"removed from the index: the vectors of {number} passages and the copy of their run, and the weight of 0.40 "
        f"that was kept"
    ]
    assert api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).notes == []


def test_neighbors_are_as_many_as_results(language_run: api.Run, documents: Path, tmp_path: Path) -> None:
    index = api.index(documents, tmp_path / "i", run=language_run, progress=QUIET).index
    for k in (-1, 0, 1001):
        with pytest.raises(UsageError, match="expected 1 to 1,000"):
            neighbors(index, "dog", k)
    words = api.index(documents, tmp_path / "w", vectors=False, progress=QUIET).index
    with pytest.raises(UsageError, match="no vectors, which maps and neighbors need") as caught:
        map_index(words)
    assert "bm25" not in str(caught.value)


def test_queries_without_judgments_are_said(documents: Path, tmp_path: Path) -> None:
    rows = [{"_id": name, "text": "the cat"} for name in ("asked", "learned", "other")]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "r.tsv").write_text("asked\td3\t1\n")
    (tmp_path / "train.tsv").write_text("learned\td4\t1\n")
    index = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).index
    found = api.evaluate_index(index, tmp_path / "q.jsonl", tmp_path / "r.tsv", baselines=False)
    assert "1 query without judgments in r.tsv, not asked: 'other'" in found.notes
    assert found.as_dict()["notes"] == list(found.notes)


def test_documents_that_nothing_can_find_are_said(language_run: api.Run, tmp_path: Path) -> None:
    rows = [{"_id": "1", "text": "the cat sat"}, {"_id": "2", "text": "🦦 🦦"}, {"_id": "3", "title": "Ω", "text": "!"}]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    notes = api.index(path, tmp_path / "i", run=language_run, progress=QUIET).notes
    assert "no search by words finds 1 document without any word, such as '2'" in notes
    unread = "1 of 3 texts have no token that the model knows: their vectors mean nothing"
    whole = [note for note in notes if "no token that the model knows" in note]
    known = [language_run.tokenizer.encode(text) for text in ("🦦 🦦", "Ω\n!")]
    expected = sum(all(one == language_run.tokenizer.unknown for one in ids) for ids in known)
    assert whole == [unread.replace("1", str(expected), 1)] and expected
    assert whole[0] in api.embed(language_run, path, tmp_path / "v", progress=QUIET).notes


def test_a_query_is_cut_between_words(documents: Path, tmp_path: Path) -> None:
    index = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).index
    notes = api.search(index, "the cat " * 1249 + "the   mat" + " the dog" * 100).notes  # 10,000 falls on "ma|t"
    assert len(notes) == 1 and "its first 10,000 are searched for, as far as words are whole" in notes[0]


def test_an_unknown_engine_names_the_others(documents: Path, tmp_path: Path) -> None:
    index = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).index
    with pytest.raises(UsageError, match="no engine 'foo': expected exact, hnsw, ivf"):
        api.search(index, "dog", engine="foo")


def test_passages_that_are_cut_anew_are_no_changed_documents(documents: Path, tmp_path: Path) -> None:
    first = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).index
    report = api.index(documents, tmp_path / "i", vectors=False, passage=100, progress=QUIET)
    assert (report.added, report.changed, report.removed) == (0, 0, 0)
    before, after = first.facts["passages"], report.index.facts["passages"]
    assert after > before and report.notes == [
        f"passages are cut anew, at most 100 characters that overlap by 10: {after} instead of {before}"
    ]
    same = api.index(documents, tmp_path / "i", vectors=False, passage=5000, progress=QUIET)
    assert "cut anew" in same.notes[0]
    assert not api.index(documents, tmp_path / "i", vectors=False, passage=6000, progress=QUIET).notes  # one each
    with pytest.raises(UsageError, match=r"cannot overlap by 100: .* --overlap"):
        api.index(documents, tmp_path / "i", vectors=False, passage=100, overlap=100, progress=QUIET)


def test_settings_that_an_index_keeps_are_said(documents: Path, tmp_path: Path) -> None:
    first = api.index(documents, tmp_path / "i", vectors=False, passage=20, progress=QUIET)
    again = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET)
    assert again.index.facts["passages"] == first.index.facts["passages"]
    [note] = again.notes
    assert "the index keeps its settings, --passage 20 --overlap 2, since none are given now" in note
    api.index(documents, tmp_path / "i", vectors=False, passage=2000, overlap=200, progress=QUIET)
    [note] = api.index(documents, tmp_path / "i", vectors=False, progress=QUIET).notes
    assert "--passage 2000" in note and "--overlap" not in note


def test_ids_that_follow_another_path_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/a.txt").write_text("the otter swims")
    api.index("notes", "i", vectors=False, progress=QUIET)
    report = api.index(str(tmp_path / "notes"), "i", vectors=False, progress=QUIET)
    assert (report.added, report.removed) == (1, 1)
    assert report.notes == [f"ids that are paths change: '{tmp_path / 'notes'}' was named 'notes' before"]


def test_a_failed_call_leaves_no_folder(tmp_path: Path, language_run: api.Run) -> None:
    (tmp_path / "empty").mkdir()
    for make in (
        lambda: api.index(tmp_path / "empty", tmp_path / "i", vectors=False, progress=QUIET),
        lambda: api.embed(language_run, tmp_path / "empty", tmp_path / "i", progress=QUIET),
    ):
        with pytest.raises(SeqlabError, match="no document in"):
            make()
        assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    (tmp_path / "i").mkdir()  # one's own folder stays
    with pytest.raises(SeqlabError, match="no document in"):
        api.index(tmp_path / "empty", tmp_path / "i", vectors=False, progress=QUIET)
    assert not list((tmp_path / "i").iterdir())


def test_an_index_below_its_documents_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the otter swims")
    notes = api.index(tmp_path, tmp_path / "i", vectors=False, progress=QUIET).notes
    assert ".lock" not in " ".join(notes)
    assert Index(tmp_path / "i").documents.documents == 1


def test_vectors_that_are_there_are_not_made_again(language_run: api.Run, documents: Path, tmp_path: Path) -> None:
    first = api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    written = first.vectors.stat().st_mtime_ns
    again = api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    assert again.done and not first.done and again.vectors.stat().st_mtime_ns == written
    assert (again.documents, again.passages, again.dimensions) == (first.documents, first.passages, first.dimensions)
    others: list[dict[str, Any]] = [{"dimensions": 3}, {"format": "safetensors"}, {"passage": 100}]
    for options in others:
        with pytest.raises(UsageError, match="already has the vectors"):
            api.embed(language_run, documents, tmp_path / "v", progress=QUIET, **options)
    write_documents(documents, 39)
    with pytest.raises(UsageError, match="already has the vectors"):
        api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
