"""What an index finds for a query: by words (BM25), by vectors (dense), or by both (hybrid).

A passage is scored by each part; a document has the score of its best passage. N: passages, M: documents.
"""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from seqlab.baselines.terms import words_of
from seqlab.data.examples.lines import quote_list
from seqlab.errors import UsageError
from seqlab.retrieval.dense import ApproximateSearch, Engine, VectorSearch, measured_recall
from seqlab.retrieval.fusion import scaled
from seqlab.retrieval.index import Index, open_index
from seqlab.retrieval.snippets import Snippet, snippet
from seqlab.wording import counted

By = Literal["hybrid", "bm25", "dense"]
WEIGHT = 0.3  # of the vectors in a hybrid score, unless it was tuned
MAX_RESULTS = 1000
MAX_QUERY = 10_000  # characters
CANDIDATES = 200  # passages that an approximate search finds
OPERATORS = {  # what other search engines read as more than words
    "quotes": re.compile(r'"[^"]*\w[^"]*"|“[^”]*\w[^”]*”'),
    "a leading minus": re.compile(r"(?<!\S)-\w"),
    "a leading plus": re.compile(r"(?<!\S)\+\w"),
    "an asterisk": re.compile(r"\w\*|\*\w"),
    "a field before a colon": re.compile(r"(?<!\S)[^\W\d]\w*:(?!//|:)[\w\"]"),
    "a question mark within a word": re.compile(r"\w\?\w"),
    "marks after a letter, as in C# and C++": re.compile(r"(?<!\w)[^\W\d_](?:#|\+\+)(?!\w)"),
    "a tilde": re.compile(r"\w~"),
    "a caret": re.compile(r"\w\^\d"),
    "AND, OR and NOT": re.compile(r"(?<=\s)(?:AND|OR|NOT)(?=\s)"),
}


@dataclass(frozen=True)
class Hit:
    """A document that was found, by its best passage: the characters from `start` to `end` of its text."""

    rank: int
    score: float
    id: str
    title: str
    start: int
    end: int
    text: str
    snippet: Snippet
    parts: dict[str, Any]  # of the score

    def as_dict(self) -> dict[str, Any]:
        names = ("rank", "score", "id", "title", "start", "end", "text", "parts")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class SearchResult:
    query: str
    by: By
    hits: list[Hit]
    milliseconds: float
    notes: list[str] = field(default_factory=list)
    kept_weight: bool = False  # whether the weight is the one that the index keeps

    def as_dict(self) -> dict[str, Any]:
        hits = [hit.as_dict() for hit in self.hits]
        return {
            "query": self.query[:MAX_QUERY],
            "by": self.by,
            "milliseconds": self.milliseconds,
            "notes": self.notes,
            "hits": hits,
        }


def search(
    index: str | Path | Index,
    query: str,
    k: int = 10,
    by: By | None = None,
    weight: float | None = None,
    engine: Engine = "exact",
) -> SearchResult:
    """The K best documents. by: hybrid if the index has vectors, else bm25; weight: of the vectors in a hybrid, by
    default the one that the index keeps, else 0.3."""
    _check_query(query, k)
    index = open_index(index)
    by = by or ("hybrid" if index.has_vectors else "bm25")
    _check_ways(by, weight, engine)
    notes: list[str] = []
    words = _shortened(query)
    if len(query) > MAX_QUERY:
        notes.append(
            f"the query has {len(query):,} characters: its first {MAX_QUERY:,} are searched for, as far as "
            f"words are whole"
        )
    if used := [name for name, pattern in OPERATORS.items() if pattern.search(words)]:
        notes.append(f"not supported, and read as words: {', '.join(used)}")
    _ = index.documents, (index.bm25 if by != "dense" else None), (index.embedder if by != "bm25" else None)
    ready = index.search_engine(engine) if by != "bm25" else None  # reading and building are not searching
    if isinstance(ready, ApproximateSearch):
        recall = measured_recall(ready, index.exact)
        notes.append(f"{ready.about}: built in {ready.seconds:.1f} s, recall@10 {recall:.3f} against exact search")
    began = time.perf_counter()
    scores = _score(index, words, by, default_weight(index) if weight is None else weight, ready, notes)
    rows = _best_rows(index, scores.passage_N, k)
    took = 1000 * (time.perf_counter() - began)
    hits = [_hit(index, words, rank, row, scores) for rank, row in enumerate(rows, 1)]
    if not hits and not notes:
        notes.append("no document has a word of the query")
    kept = by == "hybrid" and weight is None and index.weight is not None
    return SearchResult(query, by, hits, took, notes, kept)


@dataclass(frozen=True)
class _Scores:
    """Of one query; passages that are not found are at minus infinity."""

    passage_N: np.ndarray
    bm25_N: np.ndarray | None = None
    dense_N: np.ndarray | None = None
    weight: float = 0.0


def default_weight(index: Index) -> float:
    return WEIGHT if index.weight is None else index.weight


def _shortened(query: str) -> str:
    """What is searched for of a query, without a part of a word at its end; of one endless word its beginning."""
    if len(query) <= MAX_QUERY:
        return query
    words = query[:MAX_QUERY]
    if not words[-1].isspace() and not query[MAX_QUERY].isspace():
        words = words[: words.rfind(words.split()[-1])]
    return words if words.strip() else query[:MAX_QUERY]


def check_number(k: int) -> None:
    """UsageError if so many results cannot be asked for."""
    if not 1 <= k <= MAX_RESULTS:
        raise UsageError(f"{k:,} results were asked for: expected 1 to {MAX_RESULTS:,}.")


def _check_query(query: str, k: int) -> None:
    if not isinstance(query, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{query!r} is not a query: expected a text.")
    if not query.strip():
        raise UsageError("the query is empty: give a question or a few words.")
    check_number(k)


def _check_ways(by: str, weight: float | None, engine: str) -> None:
    if by not in get_args(By):
        raise UsageError(f"there is no search by '{by}': expected {', '.join(get_args(By))}.")
    if weight is not None and by != "hybrid":
        raise UsageError(f"a weight does nothing in a search by {by}: leave it out.")
    if weight is not None and not 0 <= weight <= 1:
        raise UsageError(f"the weight is {weight}: expected a number from 0 (words alone) to 1 (vectors alone).")
    if engine not in get_args(Engine):
        raise UsageError(f"there is no engine '{engine}': expected {', '.join(get_args(Engine))}.")
    if engine != "exact" and by != "dense":
        raise UsageError(f"the engine {engine} finds the nearest vectors: search with it by dense.")


def _score(index: Index, query: str, by: By, weight: float, engine: VectorSearch | None, notes: list[str]) -> _Scores:
    bm25_N = None
    if by != "dense":
        bm25_N = index.bm25.scores([query])[0]
        words = [*dict.fromkeys(words_of(query))]
        stems = index.bm25.terms.stems_of(words)
        unknown = [word for word, stem in zip(words, stems, strict=True) if stem not in index.bm25.terms.ids]
        if unknown:
            known = "no word of the query is" if len(unknown) == len(words) else "some words of the query are not"
            notes.append(f"{known} in the documents: {quote_list(unknown, 5)}")
        if not words:
            notes.append("the query has no word to search for")
    if by == "bm25":
        assert bm25_N is not None
        return _Scores(np.where(bm25_N > 0, bm25_N, -np.inf), bm25_N)
    vector_D = query_vector(index, query, notes)
    assert engine is not None
    if by == "dense" and engine is not index.exact:
        found = engine.nearest(vector_D[None], CANDIDATES)
        dense_N = np.full(index.documents.passages, -np.inf, np.float32)
        dense_N[found.rows_QK[0]] = found.scores_QK[0]
    else:
        dense_N = index.exact.scores(vector_D[None])[0]
    if by == "dense" or bm25_N is None:
        return _Scores(dense_N if vector_D.any() else np.full_like(dense_N, -np.inf), None, dense_N)
    if not vector_D.any():
        return _Scores(np.where(bm25_N > 0, bm25_N, -np.inf), bm25_N)
    fused_N = (1 - weight) * _scaled(bm25_N) + weight * _scaled(dense_N)
    return _Scores(fused_N, bm25_N, dense_N, weight)


def _scaled(scores_N: np.ndarray) -> np.ndarray:
    return scaled(scores_N[None])[0]


def query_vector(index: Index, query: str, notes: list[str]) -> np.ndarray:
    """Its vector; what the model cannot read is noted."""
    seen = index.embedder.seen
    tokens, cut, unknown = seen.tokens, seen.cut, seen.unknown
    vector_D = index.embed([query])[0]
    if seen.cut > cut:
        notes.append(
            f"the model reads the first {index.embedder.limit:,} of {seen.tokens - tokens:,} tokens of the query"
        )
    if not vector_D.any():
        notes.append("the model knows no token of the query: vectors have no part in the result")
    elif missing := seen.unknown - unknown:
        are = "is" if missing == 1 else "are"
        which = "".join(f": {note}" for note in index.embedder.unknown_in(query))
        of_all = counted(seen.tokens - tokens, "token")
        notes.append(f"{missing:,} of {of_all} of the query {are} unknown to the model{which}")
    return vector_D


def _best_rows(index: Index, scores_N: np.ndarray, k: int) -> list[int]:
    """The best passage of each of the K best documents, best first; of equal scores the first in the index."""
    starts_M = index.documents.starts_M
    best_M = index.best_passages(scores_N[None])[0]
    order = np.argsort(-best_M, kind="stable")[:k]
    ends_M = np.append(starts_M[1:], len(scores_N))
    return [
        int(starts_M[place] + scores_N[starts_M[place] : ends_M[place]].argmax())
        for place in order
        if np.isfinite(best_M[place])
    ]


def _hit(index: Index, query: str, rank: int, row: int, scores: _Scores) -> Hit:
    passage = index.documents.passage(row)
    parts: dict[str, Any] = {}
    words: dict[str, float] = {}
    if scores.bm25_N is not None:
        words = index.bm25.parts(query, row)
        parts["bm25"] = {"score": float(scores.bm25_N[row]), "words": words}
    if scores.dense_N is not None:
        parts["dense"] = {"score": float(scores.dense_N[row])}
    if scores.weight and scores.bm25_N is not None and scores.dense_N is not None:
        parts["bm25"]["scaled"] = float(_scaled(scores.bm25_N)[row])
        parts["dense"]["scaled"] = float(_scaled(scores.dense_N)[row])
        parts["weight"] = scores.weight
    shown = snippet(passage.text, words, index.bm25.terms)
    document = passage.document
    return Hit(
        rank, float(scores.passage_N[row]), document.id, document.title,
        passage.start, passage.end, passage.text, shown, parts,
    )  # fmt: skip
