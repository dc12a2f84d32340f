"""`seqlab embed`: what it writes, that a stopped call goes on, and that memory and files stay in order."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from search_cases import write_documents

from seqlab import api
from seqlab.errors import UsageError
from seqlab.retrieval import shards
from seqlab.retrieval.directory import WorkStopped
from seqlab.retrieval.embedding import TextEmbedder
from seqlab.retrieval.progress import WorkProgress
from seqlab.runs import manifest
from seqlab.storage import sha256

QUIET = WorkProgress()


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()]


def test_vectors_ids_and_offsets(language_run: api.Run, documents: Path, tmp_path: Path) -> None:
    written = api.embed(language_run, documents, tmp_path / "v", passage=200, overlap=20, progress=QUIET)
    rows, vectors_ND = read_rows(tmp_path / "v"), np.load(written.vectors, allow_pickle=False)
    assert vectors_ND.shape == (written.passages, written.dimensions) == (len(rows), 8) and written.documents == 40
    assert np.linalg.norm(vectors_ND, axis=1) == pytest.approx(1)
    texts = {row["_id"]: row["text"] for row in map(json.loads, documents.read_text().splitlines())}
    pieces = [f"{row['title']}\n{texts[row['document']][row['start'] : row['end']]}" for row in rows]
    expected_ND = TextEmbedder(language_run).embed(pieces)
    expected_ND /= np.linalg.norm(expected_ND, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors_ND, expected_ND, atol=1e-5)
    files, facts = manifest.read_manifest(tmp_path / "v")
    assert facts == {"format": "seqlab-vectors"} and not (tmp_path / "v" / "shards").exists()
    assert all(sha256((tmp_path / "v" / name).read_bytes()) in hashes for name, hashes in files.items())
    api.embed(language_run, documents, tmp_path / "s", passage=200, overlap=20, format="safetensors", progress=QUIET)
    same_ND = safetensors.numpy.load_file(tmp_path / "s" / "vectors.safetensors")["vectors"]
    np.testing.assert_array_equal(same_ND, vectors_ND)


def test_fitted_reductions(language_run: api.Run, documents: Path, tmp_path: Path) -> None:
    plane = api.embed(
        language_run, documents, tmp_path / "p", dimensions=3, reduce="pca", normalize=False, progress=QUIET
    )
    vectors_ND = np.load(plane.vectors, allow_pickle=False)
    assert vectors_ND.shape == (40, 3) and abs(vectors_ND.mean(0)).max() < 1e-5
    covariance_DD = vectors_ND.T @ vectors_ND
    assert abs(covariance_DD - np.diag(covariance_DD.diagonal())).max() < 1e-4 * covariance_DD.max()
    smallest = {}
    for pooling in ("mean", "sif"):
        out = tmp_path / pooling
        written = api.embed(language_run, documents, out, pooling=pooling, normalize=False, progress=QUIET)
        smallest[pooling] = np.linalg.svd(np.load(written.vectors, allow_pickle=False), compute_uv=False)[-1]
    assert smallest["sif"] < 1e-5 < smallest["mean"]  # the direction that all share is gone


class Stopped(Exception):
    pass


def test_a_stopped_call_goes_on_with_the_same_bits(
    language_run: api.Run, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "BLOCK", 8)
    whole = api.embed(language_run, documents, tmp_path / "whole", progress=QUIET)
    embed, calls = TextEmbedder.embed, []

    def stopped(self: TextEmbedder, texts: Sequence[str]) -> np.ndarray:
        calls.append(len(texts))
        if len(calls) == 4:
            raise Stopped
        return embed(self, texts)

    monkeypatch.setattr(TextEmbedder, "embed", stopped)
    with pytest.raises(Stopped):
        api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    assert not (tmp_path / "v" / "manifest.json").exists()
    damaged = tmp_path / "v" / "shards" / "000001.shard"
    content = bytearray(damaged.read_bytes())
    content[-3] ^= 1
    damaged.write_bytes(content)
    continued = api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    assert continued.continued == 16 and calls == [8] * 7  # all blocks once, the damaged and the interrupted one again
    assert continued.vectors.read_bytes() == whole.vectors.read_bytes()


@pytest.mark.slow
def test_a_killed_process_goes_on_with_the_same_bits(language_run: api.Run, tmp_path: Path) -> None:
    documents = write_documents(tmp_path / "d.jsonl", 2000)
    program = (
        "import sys; from seqlab.retrieval import shards; shards.BLOCK = 16; from seqlab.__main__ import main; main()"
    )

    def command(out: str) -> list[str]:
        words = ["seqlab", "embed", str(language_run.path), str(documents), "--out", str(tmp_path / out)]
        return [sys.executable, "-c", f"import sys; sys.argv = {words!r}; {program}"]

    subprocess.run(command("whole"), check=True, capture_output=True)
    for _ in range(3):
        process = subprocess.Popen(command("v"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len([*(tmp_path / "v" / "shards").glob("0*")])
        while process.poll() is None and len([*(tmp_path / "v" / "shards").glob("0*")]) < before + 10:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "v" / "manifest.json").exists(), "it ended before it was killed"
    last = subprocess.run(command("v"), check=True, capture_output=True, text=True)
    assert "had been embedded before" in last.stdout
    assert (tmp_path / "v" / "vectors.npy").read_bytes() == (tmp_path / "whole" / "vectors.npy").read_bytes()
    assert (tmp_path / "v" / "passages.jsonl").read_bytes() == (tmp_path / "whole" / "passages.jsonl").read_bytes()


def test_ctrl_c_says_that_it_goes_on_and_two_do_not_write_at_once(
    language_run: api.Run, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def second_and_stop(self: TextEmbedder, texts: Sequence[str]) -> np.ndarray:
        with pytest.raises(UsageError, match="is in use"):
            api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
        raise KeyboardInterrupt

    monkeypatch.setattr(TextEmbedder, "embed", second_and_stop)
    with pytest.raises(WorkStopped, match="The same command goes on") as stopped:
        api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    assert stopped.value.exit_code == 130
    monkeypatch.undo()
    assert api.embed(language_run, documents, tmp_path / "v", progress=QUIET).passages == 40


def test_changed_documents_are_embedded_again(
    language_run: api.Run, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "BLOCK", 8)
    monkeypatch.setattr("seqlab.retrieval.vector_files.fit", lambda *given: (_ for _ in ()).throw(Stopped))
    with pytest.raises(Stopped):
        api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    monkeypatch.undo()
    monkeypatch.setattr(shards, "BLOCK", 8)
    lines = documents.read_text().splitlines()
    documents.write_text("\n".join([*lines[:20], '{"_id": "new", "text": "the sea"}', *lines[20:]]))
    assert api.embed(language_run, documents, tmp_path / "v", progress=QUIET).continued == 16


def test_what_is_there_is_not_overwritten(language_run: api.Run, documents: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not empty"):
        api.embed(language_run, documents, tmp_path, progress=QUIET)
    api.embed(language_run, documents, tmp_path / "v", progress=QUIET)
    with pytest.raises(UsageError, match="already has the vectors"):
        api.embed(language_run, documents, tmp_path / "v", dimensions=2, progress=QUIET)
    with pytest.raises(UsageError, match="already has"):
        api.embed(language_run, documents, language_run.path, progress=QUIET)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduce": "pca"}, "without a number of dimensions"),
        ({"reduce": "umap"}, "no reduction 'umap'"),
        ({"format": "pickle"}, "no format 'pickle'"),
        ({"passages": 3}, "no option passages"),
        ({"passage": 0}, "at least 1"),
    ],
)
def test_wrong_options(
    language_run: api.Run, documents: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        api.embed(language_run, documents, tmp_path / "v", progress=QUIET, **options)
