"""Maps of an index: where documents lie, what the page holds, and what is nearest."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqlab import api
from seqlab.errors import UsageError
from seqlab.inspection.embeddings import plane
from seqlab.retrieval import map as mapping
from seqlab.retrieval.index import Index
from seqlab.retrieval.map import document_vectors, map_figure, map_index, map_page, neighbors, write_map
from seqlab.retrieval.neighbor_embedding import tsne
from seqlab.retrieval.progress import WorkProgress


@pytest.fixture(scope="module")
def index(language_run: api.Run, tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("mapped")
    for name, text in {
        "sea/otter.md": "# The otter\n\nthe otter swims in the sea",
        "sea/seal.md": "# The seal\n\nthe seal swims in the sea too",
        "land/dog.md": "# The dog\n\nthe dog ran to the mat and sat on it",
        "land/cat.md": "# </script><b>The cat\n\nthe cat sat on the mat " + "and sat " * 400,
    }.items():
        path = folder / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return api.index(folder / "notes", folder / "i", run=language_run, progress=WorkProgress()).index


def test_a_document_is_the_mean_of_its_passages(index: Index) -> None:
    vectors_MD = document_vectors(index)
    assert vectors_MD.shape == (4, 8) and np.linalg.norm(vectors_MD, axis=1) == pytest.approx(1)
    own_ND = index.exact.vectors_ND.numpy()[index.documents.spans_N[:, 0] == 0]
    assert len(own_ND) > 1
    np.testing.assert_allclose(vectors_MD[0], own_ND.mean(0) / np.linalg.norm(own_ND.mean(0)), atol=1e-6)


def test_the_map_and_its_page(index: Index, tmp_path: Path) -> None:
    found = map_index(index)
    assert found.groups == ["land", "land", "sea", "sea"] and found.titles[2:] == ["The otter", "The seal"]
    assert found.places_M2.shape == (4, 2) and all(len(near) == 3 for near in found.near)
    assert found.sentence.startswith("4 documents; two axes show ")
    page = map_page(found)
    assert "</script><b>" not in page and "default-src &#39;none&#39;" in page
    assert not re.findall(r"https?://", page.replace("http://www.w3.org/2000/svg", ""))  # it loads nothing
    points = json.loads(re.search(r'id="points">(.*?)</script>', page, re.DOTALL)[1])  # pyright: ignore[reportOptionalSubscript]
    assert len(points) == 4 and all(0 <= point[0] <= 1 and 0 <= point[1] <= 1 for point in points)
    assert points[0][2] == "</script><b>The cat" and points[0][6] == found.near[0]
    for name in ("m.html", "m.png", "m.svg", "m.pdf"):
        for _ in range(2):  # one of ours is made anew
            write_map(found, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
        (tmp_path / name).write_text("<html>mine</html>")
        with pytest.raises(UsageError, match="exists, and seqlab did not write it"):
            write_map(found, tmp_path / name)
    with pytest.raises(UsageError, match="is no map"):
        write_map(found, tmp_path / "m.gif")


def test_large_indexes_are_drawn_in_part_and_say_so(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.retrieval.map.MOST_POINTS", 3)
    found = map_index(index)
    assert len(found.ids) == 3 and found.sentence.startswith("3 of 4 documents, evenly spaced; ")


def test_neighbors_of_documents_and_words(index: Index) -> None:
    vectors_MD = document_vectors(index)
    near = neighbors(index, "The otter", k=2)
    expected = np.sort(np.delete(vectors_MD @ vectors_MD[2], 2))[::-1][:2]
    assert [cosine for cosine, _, _ in near.documents] == pytest.approx(expected.tolist(), abs=1e-6) and not near.words
    assert neighbors(index, index.documents.ids[2], k=2).documents == near.documents
    near = neighbors(index, "cat", k=3)
    assert len(near.documents) == 3 and len(near.words) == 3 and all(word != "cat" for _, word in near.words)
    assert near.words[0][0] >= near.words[1][0] >= near.words[2][0]
    assert near.words_compared == near.words_in_all > 3
    for text, message in {" ": "neighbors of nothing", "ΩΩ": "knows no token"}.items():
        with pytest.raises(UsageError, match=message):
            neighbors(index, text)


def test_words_that_are_too_rare_to_be_compared_are_said(
    index: Index, seqlab: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nearest words among" not in seqlab("map", str(index.path), "--neighbors", "cat").out
    monkeypatch.setattr(mapping, "MOST_WORDS", 5)
    near = neighbors(index, "cat", k=9)
    assert len(near.words) == near.words_compared == 5 < near.words_in_all
    shown = " ".join(seqlab("map", str(index.path), "--neighbors", "cat").out.split())
    assert f"nearest words among the 5 most frequent of {near.words_in_all}" in shown


def test_tsne_keeps_groups_together_that_a_plane_cannot_show() -> None:
    draw = np.random.default_rng(0)
    centers_GD = 6 * np.eye(12)[:8]  # eight groups, each in a direction of its own
    of_M = np.arange(160) % 8
    vectors_MD = centers_GD[of_M] + draw.normal(size=(160, 12))
    flat_M2, _ = plane(vectors_MD)
    placed_M2 = tsne(vectors_MD, flat_M2)

    def share_of_neighbors(places_M2: np.ndarray) -> float:
        distances_MM = np.linalg.norm(places_M2[:, None] - places_M2, axis=2)
        np.fill_diagonal(distances_MM, np.inf)
        return float((of_M[np.argsort(distances_MM, axis=1)[:, :5]] == of_M[:, None]).mean())

    assert share_of_neighbors(placed_M2) > 0.97 > 0.8 > share_of_neighbors(flat_M2)
    np.testing.assert_array_equal(placed_M2, tsne(vectors_MD, flat_M2))


def test_a_map_by_tsne(index: Index) -> None:
    found = map_index(index, "tsne")
    assert np.isfinite(found.places_M2).all() and found.sentence.startswith("4 documents by t-SNE")
    assert "t-SNE" in map_page(found) and map_figure(found) is not None
    with pytest.raises(UsageError, match="no map by 'umap'"):
        map_index(index, "umap")
