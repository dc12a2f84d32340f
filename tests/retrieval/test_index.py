"""An index: built, brought up to date, stopped, damaged; and always the old one or the new one."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_cases import write_documents

from seqlab import api
from seqlab.errors import DataError, MissingInput, SeqlabError, UsageError
from seqlab.retrieval import shards
from seqlab.retrieval.build import IndexReport
from seqlab.retrieval.corpus_vectors import Source
from seqlab.retrieval.embedding import TextEmbedder
from seqlab.retrieval.index import Index
from seqlab.retrieval.own_run import train_embedder
from seqlab.retrieval.progress import WorkProgress
from seqlab.runs import manifest
from seqlab.storage import sha256

QUIET = WorkProgress()
SMALL_EMBEDDER = {"task.name": "embed", "backbone.hidden": 8, "model.embedding": 8, "train.threads": 1}


def build(source: str | Path | Sequence[Path], out: Path, **options: Any) -> IndexReport:
    return api.index(source, out, progress=QUIET, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents as files."""
    notes = tmp_path / "notes"
    notes.mkdir()
    texts = {
        "otter": "the cat swims in the sea",
        "dog": "the dog ran to the mat",
        "long": "the cat sat on the mat " * 40,
    }
    for name, text in texts.items():
        (notes / f"{name}.md").write_text(f"# The {name}\n\n{text}", encoding="utf-8")
    return notes


def test_what_an_index_holds(language_run: api.Run, folder: Path, tmp_path: Path) -> None:
    report = build(folder, tmp_path / "i", run=language_run, passage=300, overlap=30)
    index = Index(tmp_path / "i")
    assert (report.added, report.changed, report.removed) == (3, 0, 0) and report.embedded == index.documents.passages
    assert index.documents.ids == [f"{folder.as_posix()}/{name}.md" for name in ("dog", "long", "otter")]
    pieces = list(index.documents.pieces())
    assert [piece.with_title for piece in pieces] == [
        index.documents.passage(row).with_title for row in range(len(pieces))
    ]
    assert len(pieces) > 4 and all(len(piece.text) <= 300 for piece in pieces)
    expected_ND = TextEmbedder(language_run).embed([piece.with_title for piece in pieces])
    expected_ND /= np.linalg.norm(expected_ND, axis=1, keepdims=True)
    np.testing.assert_allclose(index.exact.vectors_ND, expected_ND, atol=1e-5)
    scores_QM = index.document_scores(["cat", "dog"], "bm25")
    assert scores_QM.shape == (2, 3) and scores_QM[0].argmin() == 0 and scores_QM[1].argmax() == 0
    assert (
        scores_QM[0, 1]
        == index.passage_scores(["cat"], "bm25")[0][[p.document.title == "The long" for p in pieces]].max()
    )
    assert not (tmp_path / "i" / ".building").exists()


def test_documents_are_added_changed_and_deleted_by_the_same_command(
    language_run: api.Run, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "i"
    before = build(folder, out, run=language_run).index
    first_ND, first_ids = before.exact.vectors_ND.numpy(), before.documents.ids
    again = build(folder, out)
    assert (again.added, again.changed, again.removed, again.embedded) == (0, 0, 0, 0)
    assert again.index.facts["data"] == before.facts["data"]  # nothing was written
    (folder / "new.txt").write_text("The seal\n\nit swims as well")
    (folder / "dog.md").write_text("# The dog\n\nthe dog sat")
    (folder / "otter.md").unlink()
    report = build(folder, out)
    assert (report.added, report.changed, report.removed, report.embedded) == (1, 1, 1, 2)
    after = report.index
    assert [Path(name).name for name in after.documents.ids] == ["dog.md", "long.md", "new.txt"]
    old, new = first_ids.index(f"{folder.as_posix()}/long.md"), 1
    np.testing.assert_array_equal(after.exact.vectors_ND[new], first_ND[old])  # it kept its vector
    fresh = build(folder, tmp_path / "fresh", run=language_run).index
    np.testing.assert_allclose(after.exact.vectors_ND, fresh.exact.vectors_ND, atol=1e-5)
    for query in ("cat", "dog sat", "swims"):
        np.testing.assert_array_equal(after.bm25.scores([query]), fresh.bm25.scores([query]))
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == sorted(
        ["manifest.json", after.facts["data"], after.facts["model"]]
    )


def test_an_index_needs_neither_its_run_nor_its_documents(language_run: api.Run, folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(language_run.path, run)
    build(folder, tmp_path / "i", run=run)
    shutil.rmtree(run)
    shutil.rmtree(folder)
    assert api.search(tmp_path / "i", "the dog").hits[0].title == "The dog"
    shutil.rmtree(tmp_path / "i" / Index(tmp_path / "i").facts["model"])
    with pytest.raises(SeqlabError, match=r"copy of its run is missing or damaged.*--run RUN.*--by bm25"):
        api.search(tmp_path / "i", "the dog")
    assert api.search(tmp_path / "i", "the dog", by="bm25").hits[0].title == "The dog"


def test_another_run_or_other_settings_embed_everything_again(
    language_run: api.Run, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "i"
    build(folder, out, run=language_run)
    assert build(folder, out, pooling="max").embedded == 3
    assert Index(out).settings.pooled.pooling == "max"
    report = build(folder, out)  # those of the index that is there
    assert report.embedded == 0 and report.index.settings.pooled.pooling == "max"
    report = build(folder, out, pooling="sif", dimensions=2, reduce="pca")
    assert report.embedded == 3 and report.index.exact.vectors_ND.shape == (3, 2)
    (folder / "new.txt").write_text("The seal\n\nit swims as well")
    report = build(folder, out)  # weights and axes stay those of the first time
    assert report.embedded == 1 and report.index.exact.vectors_ND.shape == (4, 2)
    assert build(folder, out, vectors=False).index.has_vectors is False


class Stopped(Exception):
    pass


def test_a_stopped_call_leaves_the_old_index_and_goes_on(
    language_run: api.Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "BLOCK", 2)
    out = tmp_path / "i"
    build(folder, out, run=language_run)
    for number in range(8):
        (folder / f"{number}.txt").write_text(f"Number {number}\n\nthe cat {'sat ' * number}")
    embed, calls = TextEmbedder.embed, []

    def stopped(self: TextEmbedder, texts: Sequence[str]) -> np.ndarray:
        calls.append(len(texts))
        if len(calls) == 3:
            raise Stopped
        return embed(self, texts)

    monkeypatch.setattr(TextEmbedder, "embed", stopped)
    with pytest.raises(Stopped):
        build(folder, out)
    assert len(Index(out).documents.ids) == 3 and Index(out).bm25.documents == 3
    assert build(folder, out).embedded == 4  # two blocks of two were finished
    monkeypatch.undo()
    monkeypatch.setattr(shards, "BLOCK", 2)
    whole = build(folder, tmp_path / "whole", run=language_run).index
    np.testing.assert_allclose(Index(out).exact.vectors_ND, whole.exact.vectors_ND, atol=1e-5)
    assert not (out / ".building").exists()


def test_a_flipped_byte_is_noticed_wherever_it_is(language_run: api.Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "i"
    build(folder, out, run=language_run)
    files = [out / "manifest.json", *(out / name for name in manifest.read_manifest(out)[0])]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        damaged = bytearray(content)
        damaged[len(content) // 2] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"damaged" if path.parent == out else r"damaged.*Build the index again"):
            api.search(out, "the dog")
        path.write_bytes(content)
    assert api.search(out, "the dog").hits
    (out / Index(out).facts["data"] / "bm25.npz").write_bytes(b"damaged")
    report = build(folder, out, run=language_run)
    assert report.notes[0].startswith("the index that was there is damaged and is built anew")
    assert api.search(out, "the dog").hits
    shutil.rmtree(out / Index(out).facts["model"])
    report = build(folder, out, run=language_run)
    assert report.embedded == 3 and "copy of its run is missing" in report.notes[0]


def test_what_is_no_index_is_refused(language_run: api.Run, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no index"):
        api.search(tmp_path / "none", "the dog")
    with pytest.raises(MissingInput, match="is not an index"):
        api.search(folder, "the dog")
    with pytest.raises(DataError, match="is not an index"):
        api.search(language_run.path, "the dog")
    with pytest.raises(UsageError, match="not empty and not an index"):
        build(folder, folder, vectors=False)
    with pytest.raises(UsageError, match="not empty and not an index"):
        build(folder, language_run.path, vectors=False)
    with pytest.raises(UsageError, match="is a file"):
        build(folder, folder / "dog.md", vectors=False)
    with pytest.raises(UsageError, match="run does nothing in an index without vectors"):
        build(folder, tmp_path / "i", vectors=False, run=language_run)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no document in"):
        build(tmp_path / "empty", tmp_path / "i", vectors=False)
    newer = tmp_path / "newer"
    build(folder, newer, vectors=False)
    files, facts = manifest.read_manifest(newer)
    (newer / "manifest.json").write_bytes(manifest.manifest(files, {**facts, "version": 2}))
    with pytest.raises(DataError, match="newer seqlab"):
        api.search(newer, "the dog")


def test_built_in_collections_are_indexed_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    index = build("python-sections", Path("i"), vectors=False).index
    assert index.documents.documents > 100 and api.search(index, "what does a lambda expression create").hits
    with pytest.raises(UsageError, match="'sst' is no collection of documents"):
        build("sst", Path("j"), vectors=False)


def test_an_index_within_the_folder_is_no_document(folder: Path) -> None:
    report = build(folder, folder / "i", vectors=False)
    assert build(folder, folder / "i", vectors=False).index.documents.ids == report.index.documents.ids


def test_arrays_that_do_not_fit_are_refused(folder: Path, tmp_path: Path) -> None:
    """A hostile index with hashes that are right."""
    out = tmp_path / "i"
    build(folder, out, vectors=False)
    files, facts = manifest.read_manifest(out)
    for name, content in {
        "passages.npy": np.array([[5, 0, 10]]),
        "lines.npy": np.array([0, 10**12]),
        "digests.npy": np.array(["text"], dtype=object),
    }.items():
        path = out / facts["data"] / name
        before = path.read_bytes()
        np.save(path, content, allow_pickle=content.dtype == object)
        hashed = {**files, f"{facts['data']}/{name}": [sha256(path.read_bytes())]}
        (out / "manifest.json").write_bytes(manifest.manifest(hashed, facts))
        with pytest.raises(DataError, match="cannot be used"):
            api.search(out, "the dog")
        path.write_bytes(before)
    path = out / facts["data"] / "bm25.npz"
    with np.load(path) as file:
        table = dict(file.items())
    for change in (
        {"indices": table["indices"] + 1000},
        {"indptr": table["indptr"][:-1]},
        {"documents": np.array([4])},
        {"data": table["data"][:-1]},
        {"terms": table["terms"][:0]},
    ):
        np.savez(path, **{**table, **change})
        hashed = {**files, f"{facts['data']}/bm25.npz": [sha256(path.read_bytes())]}
        (out / "manifest.json").write_bytes(manifest.manifest(hashed, facts))
        with pytest.raises(DataError, match="cannot be used"):
            api.search(out, "the dog")


def test_without_a_run_an_embedder_is_trained_first(
    documents: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seqlab.retrieval.build.train_embedder", partial(train_embedder, seconds=0.01))
    monkeypatch.setattr("seqlab.retrieval.own_run.SMALL", SMALL_EMBEDDER)
    report = build(documents, tmp_path / "i")
    assert report.index.has_vectors and report.embedded == report.index.documents.passages
    assert report.notes[0].startswith("trained an embedder on these documents in ") and "nDCG@10" in report.notes[0]
    assert api.search(tmp_path / "i", "the dog").by == "hybrid" and api.search(tmp_path / "i", "the dog").hits
    again = build(documents, tmp_path / "i")
    assert again.embedded == 0 and not again.notes  # the embedder of the index is used, not trained again
    few = build(folder, tmp_path / "few")
    assert not few.index.has_vectors and "too few to train an embedder on (10 are needed)" in few.notes[0]


@pytest.mark.slow
def test_training_that_was_stopped_goes_on(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.retrieval.own_run.SMALL", SMALL_EMBEDDER)
    source, notes = Source((str(documents),)), []
    first = train_embedder(source, tmp_path / "own", QUIET, notes, seconds=0.01)
    assert first is not None
    weights = (first.path / "model.safetensors").stat().st_mtime_ns
    again = train_embedder(source, tmp_path / "own", QUIET, notes, seconds=0.01)
    assert again is not None and (again.path / "model.safetensors").stat().st_mtime_ns == weights  # it was finished
    documents.write_text(documents.read_text().replace("cat", "otter"))
    changed = train_embedder(source, tmp_path / "own", QUIET, notes, seconds=0.01)
    assert changed is not None and (changed.path / "model.safetensors").stat().st_mtime_ns != weights


@pytest.mark.parametrize(
    "change",
    [
        {"data": "../../elsewhere"},
        {"model": 5},
        {"documents": "three"},
        {"settings": None},
        {"settings": {"pooled": {"pooling": "mean"}, "dimensions": "all"}},
        {"settings": {}},
        {"dimensions": 10**12},
    ],
)
def test_facts_that_are_not_what_seqlab_writes(
    language_run: api.Run, folder: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    """A hostile manifest with a hash that is right."""
    out = tmp_path / "i"
    build(folder, out, run=language_run)
    files, facts = manifest.read_manifest(out)
    (out / "manifest.json").write_bytes(manifest.manifest(files, {**facts, **change}))
    with pytest.raises(DataError, match="cannot be used"):
        api.search(out, "the dog")


@pytest.mark.slow
def test_a_killed_process_leaves_the_old_index_and_the_next_one_goes_on(language_run: api.Run, tmp_path: Path) -> None:
    source, out = write_documents(tmp_path / "d.jsonl", 50), tmp_path / "i"
    build(source, out, run=language_run)
    write_documents(source, 2000)
    words = ["seqlab", "index", str(source), "--run", str(language_run.path), "--out", str(out)]
    program = (
        f"import sys; sys.argv = {words!r}; from seqlab.retrieval import shards; shards.BLOCK = 16; "
        f"from seqlab.__main__ import main; main()"
    )
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        folder = out / ".building" / "shards"
        before = len([*folder.glob("0*")])
        while process.poll() is None and len([*folder.glob("0*")]) < before + 10:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert Index(out).documents.documents == 50 and api.search(out, "the dog").hits, "it ended before it was killed"
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(shards, "BLOCK", 16)
    report = build(source, out, run=language_run)
    assert 0 < report.embedded < 2000 - 30 * 16 + 50 and Index(out).documents.documents == 2000
    whole = build(source, tmp_path / "whole", run=language_run).index
    monkeypatch.undo()
    np.testing.assert_allclose(Index(out).exact.vectors_ND, whole.exact.vectors_ND, atol=1e-5)
