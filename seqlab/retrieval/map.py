"""A map of an index: documents whose vectors are alike lie near each other; and the neighbors of a document or word.

M: documents, D: dimensions.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from markupsafe import Markup

from seqlab.errors import UsageError
from seqlab.inspection.embeddings import plane
from seqlab.pages import clean_text, page_environment, page_style, policy
from seqlab.plotting import COLORS, light_grid, new_figure, refuse_foreign, write_figure
from seqlab.retrieval.index import Index
from seqlab.retrieval.neighbor_embedding import tsne
from seqlab.retrieval.search import check_number, query_vector
from seqlab.storage import as_bytes, write_atomic
from seqlab.wording import counted

HERE = Path(__file__).parent
TEMPLATE, STYLE, SCRIPT = "map.html.j2", "map.css", "map.js"
MOST_POINTS = 2000  # documents of a map
MOST_WORDS = 5000  # words that are compared with a word, the most frequent of the documents
NEIGHBORS = 6
BEGINNING = 200  # characters of a document that the page shows
LABELED = 40  # documents of a picture, up to which each has its title
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class DocumentMap:
    """Documents on a plane. `group`: the folder of each, if there are a few; `near`: rows of the nearest ones."""

    name: str
    documents: int  # of the index
    titles: list[str]
    ids: list[str]
    texts: list[str]
    places_M2: np.ndarray
    shares: list[float]  # of the variance, by axis; none in a map by t-SNE
    groups: list[str]
    near: list[list[int]]

    @property
    def sentence(self) -> str:
        all_of = counted(self.documents, "document")
        drawn = f"{len(self.ids):,} of {all_of}, evenly spaced" if self.documents > len(self.ids) else all_of
        if not self.shares:
            return f"{drawn} by t-SNE: neighbors stay near each other, and distances between groups mean little."
        return f"{drawn}; two axes show {sum(self.shares):.0%} of the variance of their vectors."


def document_vectors(index: Index) -> np.ndarray:
    """The mean of the vectors of a document's passages, of length 1 (M, D)."""
    if not index.has_vectors:
        raise UsageError(
            f"'{index.path}' has no vectors, which maps and neighbors need: build it again with --run RUN."
        )
    vectors_ND, starts_M = index.exact.vectors_ND.numpy(), index.documents.starts_M
    counts_M = np.diff(np.append(starts_M, len(vectors_ND)))
    means_MD = np.add.reduceat(vectors_ND, starts_M, axis=0) / counts_M[:, None]
    return means_MD / np.maximum(np.linalg.norm(means_MD, axis=1, keepdims=True), 1e-12)


def map_index(index: Index, method: str = "pca") -> DocumentMap:
    """method: pca (the two directions of the largest variance) or tsne (neighbors stay neighbors)."""
    if method not in ("pca", "tsne"):
        raise UsageError(f"there is no map by '{method}': expected pca or tsne.")
    vectors_MD = document_vectors(index)
    if len(vectors_MD) < 3:
        raise UsageError(f"'{index.path}' has {counted(len(vectors_MD), 'document')}: a map needs at least 3.")
    rows = np.unique(np.linspace(0, len(vectors_MD) - 1, min(MOST_POINTS, len(vectors_MD))).astype(int))
    vectors_MD = vectors_MD[rows]
    documents = [index.documents.document(int(row)) for row in rows]
    places_M2, shares = plane(vectors_MD.astype(np.float64))
    if method == "tsne":
        places_M2, shares = tsne(vectors_MD, places_M2), []
    cosines_MM = vectors_MD @ vectors_MD.T
    np.fill_diagonal(cosines_MM, -np.inf)
    most = min(NEIGHBORS, len(rows) - 1)
    near = np.argsort(-cosines_MM, axis=1, kind="stable")[:, :most].tolist()
    return DocumentMap(
        index.path.name,
        index.documents.documents,
        [document.title or document.id for document in documents],
        [document.id for document in documents],
        [" ".join(document.text[: 2 * BEGINNING].split())[:BEGINNING] for document in documents],
        places_M2,
        shares,
        _groups([document.id for document in documents]),
        near,
    )


def _groups(ids: Sequence[str]) -> list[str]:
    """The folder of each document, the smaller folders together; one empty group if ids are no paths."""
    folders = [str(PurePosixPath(name).parent) if "/" in name else "" for name in ids]
    shared = os.path.commonpath(folders) if all(folders) else ""
    folders = [folder.removeprefix(shared).strip("/") or PurePosixPath(folder).name for folder in folders]
    common = [name for name, _ in Counter(folders).most_common(len(COLORS) - 1)]
    if len(set(folders)) < 2:
        return [""] * len(ids)
    return [folder if folder in common else "others" for folder in folders]


# --- shown ------------------------------------------------------------------------------------------------------------


def write_map(found: DocumentMap, path: Path) -> None:
    """A picture or a page, by the ending of the file name."""
    kind = path.suffix.lower()
    if kind not in (".html", ".png", ".svg", ".pdf"):
        raise UsageError(f"'{path}' is no map: expected a file name that ends in .html, .png, .svg or .pdf.")
    refuse_foreign(path)
    if kind == ".html":
        write_atomic(path, as_bytes(map_page(found)))
    else:
        write_figure(map_figure(found), path)


def map_page(found: DocumentMap) -> str:
    """One file that loads nothing: points to hover over, and a field to search in."""
    style = page_style((HERE / STYLE).read_text(encoding="utf-8"))
    script = (HERE / SCRIPT).read_text(encoding="utf-8")
    environment = page_environment(HERE)
    environment.filters["clean"] = clean_text
    names = list(dict.fromkeys(found.groups))
    return environment.get_template(TEMPLATE).render(
        title=f"Map of {found.name}",
        sentence=found.sentence,
        groups=[name for name in names if name],
        style=Markup(style),
        script=Markup(script),
        policy=policy(style, script),
        points=Markup(_as_json(found, names)),
    )


def _as_json(found: DocumentMap, groups: Sequence[str]) -> str:
    low_2, high_2 = found.places_M2.min(0), found.places_M2.max(0)
    places_M2 = (found.places_M2 - low_2) / np.maximum(high_2 - low_2, 1e-12)
    points: list[list[Any]] = [
        [round(float(x), 4), round(1 - float(y), 4), clean_text(title), clean_text(name), clean_text(text), group, near]
        for (x, y), title, name, text, group, near in zip(
            places_M2, found.titles, found.ids, found.texts, map(groups.index, found.groups), found.near, strict=True
        )
    ]
    written = json.dumps(points, separators=(",", ":"))
    return written.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")  # no markup within a script


def map_figure(found: DocumentMap) -> Any:
    figure = new_figure(8, 6)
    axes = figure.subplots()
    groups = list(dict.fromkeys(found.groups))
    for color, group in zip(COLORS, groups, strict=False):
        inside_M = np.array([name == group for name in found.groups])
        axes.scatter(*found.places_M2[inside_M].T, s=14, color=color, label=group or None, alpha=0.8)
    for (x, y), title in zip(found.places_M2, found.titles, strict=True) if len(found.ids) <= LABELED else ():
        axes.annotate(title[:32], (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7, parse_math=False)
    if found.shares:
        first, second = found.shares
        axes.set(xlabel=f"first axis ({first:.0%} of the variance)", ylabel=f"second axis ({second:.0%})")
    else:
        axes.set(xticks=[], yticks=[], xlabel="t-SNE: neighbors stay neighbors, other distances mean little")
    axes.set_title(f"{counted(len(found.ids), 'document')} of {found.name}", fontsize=10, parse_math=False)
    light_grid(axes)
    if len(groups) > 1:
        axes.legend(frameon=False, fontsize=8)
    return figure


# --- neighbors --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Neighbors:
    """What is nearest to a document or a text: documents as (cosine, title, id), words as (cosine, word)."""

    what: str
    documents: list[tuple[float, str, str]]
    words: list[tuple[float, str]]
    words_compared: int = 0  # the most frequent ones
    words_in_all: int = 0


def neighbors(index: Index, text: str, k: int = 10) -> Neighbors:
    """Of the document with this id or title, else of the text, with the nearest words of the documents."""
    if not text.strip():
        raise UsageError("neighbors of nothing were asked for: give the id or title of a document, or a word.")
    check_number(k)
    vectors_MD, ids = document_vectors(index), index.documents.ids
    titles = [document.title for document in index.documents.read()]
    own = next((row for names in (ids, titles) for row, name in enumerate(names) if name == text), None)
    words, compared, in_all = list[tuple[float, str]](), 0, 0
    if own is None:
        vector_D = query_vector(index, text, [])
        if not vector_D.any():
            raise UsageError(f"the model knows no token of '{text[:40]}': give another word, or the id of a document.")
        counts = _count_words(index, text)
        compared, in_all = min(len(counts), MOST_WORDS), len(counts)
        words = _near_words(index, [word for word, _ in counts.most_common(MOST_WORDS)], vector_D, k)
        what = f"the text '{text[:60]}'"
    else:
        vector_D, what = vectors_MD[own], f"the document '{titles[own] or ids[own]}'"
    cosines_M = vectors_MD @ (vector_D / max(float(np.linalg.norm(vector_D)), 1e-12))
    order = [int(row) for row in np.argsort(-cosines_M, kind="stable") if row != own][:k]
    near = [(float(cosines_M[row]), titles[row], ids[row]) for row in order]
    return Neighbors(what, near, words, compared, in_all)


def _count_words(index: Index, text: str) -> Counter[str]:
    """The words of the documents, without the text itself."""
    counts: Counter[str] = Counter()
    for document in index.documents.read():
        counts.update(word.lower() for word in WORD.findall(document.text))
    del counts[text.strip().lower()]
    return counts


def _near_words(index: Index, words: list[str], vector_D: np.ndarray, k: int) -> list[tuple[float, str]]:
    vectors_WD = index.embed(words)
    norms_W = np.linalg.norm(vectors_WD, axis=1) * np.linalg.norm(vector_D)
    cosines_W = vectors_WD @ vector_D / np.maximum(norms_W, 1e-12)
    return [(float(cosines_W[place]), words[place]) for place in np.argsort(-cosines_W, kind="stable")[:k]]
