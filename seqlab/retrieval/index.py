"""The index: documents, their BM25 table and the vectors of their passages, with a copy of the run that made them.

N: passages, M: documents, Q: queries, D: dimensions.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.baselines.bm25 import TABLE, Bm25
from seqlab.errors import DataError, MissingInput, SeqlabError, UsageError
from seqlab.retrieval.corpus_vectors import VectorSettings
from seqlab.retrieval.dense import ApproximateSearch, Engine, ExactSearch, VectorSearch
from seqlab.retrieval.directory import BM25, FITTED, VECTORS, IndexDirectory, read_array, read_arrays
from seqlab.retrieval.embedding import Pooled, TextEmbedder
from seqlab.retrieval.reduction import Reduction
from seqlab.retrieval.snapshot import Snapshot, load_snapshot
from seqlab.runs import manifest
from seqlab.storage import validated


class Index:
    """An index that can be searched. Its parts are read, and checked against their hashes, when they are first used."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.directory = IndexDirectory(self.path)
        self.facts: dict[str, Any] = self.directory.facts()

    def __repr__(self) -> str:
        return f"Index('{self.path}': {self.facts['documents']:,} documents, {self.facts['passages']:,} passages)"

    @property
    def has_vectors(self) -> bool:
        return self.facts.get("model") is not None

    @property
    def weight(self) -> float | None:
        """Of the vectors in a hybrid, if one was kept: `seqlab evaluate --keep-weight`."""
        return self.facts.get("weight")

    @property
    def settings(self) -> VectorSettings:
        stored = dict(self.facts["settings"])
        pooled = validated(Pooled, stored.pop("pooled", None), self.path)
        return validated(VectorSettings, {**stored, "pooled": pooled}, self.path)

    @cached_property
    def documents(self) -> Snapshot:
        return load_snapshot(self.directory.data, self.path)

    @cached_property
    def bm25(self) -> Bm25:
        arrays = read_arrays(self.directory.data(BM25), self.path / BM25, (*TABLE, "terms", "documents"))
        self._require(_is_table(arrays, self.documents.passages), BM25)
        return Bm25.from_arrays(arrays)

    @cached_property
    def exact(self) -> ExactSearch:
        self._require_vectors()
        vectors_ND = read_array(self.directory.data(VECTORS), self.path / VECTORS)
        self._require(vectors_ND.shape == (self.documents.passages, self.facts["dimensions"]), VECTORS)
        return ExactSearch(vectors_ND)

    @cached_property
    def fitted(self) -> dict[str, np.ndarray]:
        fitted = read_arrays(self.directory.data(FITTED), self.path / FITTED, ("center", "axes", "normalize"))
        shape = (len(np.atleast_1d(fitted["center"])), self.facts["dimensions"])
        self._require(fitted["axes"].shape == shape and fitted["normalize"].shape == (1,), FITTED)
        return fitted

    @cached_property
    def reduction(self) -> Reduction:
        return Reduction.from_arrays(self.fitted)

    @cached_property
    def embedder(self) -> TextEmbedder:
        """The model that made the vectors, from the copy that the index keeps."""
        from seqlab.runs.load import load_run

        self._require_vectors()
        try:
            run = load_run(self.directory.verify_model())
        except SeqlabError as error:
            raise type(error)(
                f"the index '{self.path}' cannot embed texts: the copy of its run is missing or damaged. {error} Build "
                f"the index again with --run RUN, or search by words alone: --by bm25"
            ) from None
        shares_V = self.fitted.get("shares")
        self._require(shares_V is None or shares_V.shape == (run.tokenizer.vocab_size,), FITTED)
        embedder = TextEmbedder(run, self.settings.pooled, shares_V)
        self._require(embedder.width == len(self.fitted["center"]), FITTED)
        return embedder

    def search_engine(self, engine: Engine = "exact") -> VectorSearch:
        """Exact search, or an approximate index that is built now from the vectors in memory."""
        return self.exact if engine == "exact" else ApproximateSearch(self.exact.vectors_ND.numpy(), engine)

    def embed(self, queries: Sequence[str]) -> np.ndarray:
        """The vectors of queries (Q, D); zeros for a query without a token that the model knows."""
        vectors_QD = self.reduction.apply(self.embedder.embed(queries))
        vectors_QD[[not self.embedder.knows(query) for query in queries]] = 0
        return vectors_QD

    def passage_scores(self, queries: Sequence[str], by: str) -> np.ndarray:
        """(Q, N) by "bm25", or by "dense": the product with each vector, a cosine if vectors are normalized.

        A query that has no vector finds nothing by it: minus infinity."""
        if by == "bm25":
            return self.bm25.scores(queries)
        if by == "dense":
            vectors_QD = self.embed(queries)
            scores_QN = self.exact.scores(vectors_QD)
            scores_QN[~vectors_QD.any(1)] = -np.inf
            return scores_QN
        raise UsageError(f"there is no score '{by}': expected bm25 or dense.")

    def document_scores(self, queries: Sequence[str], by: str) -> np.ndarray:
        """(Q, M): the score of a document is that of its best passage."""
        return self.best_passages(self.passage_scores(queries, by))

    def best_passages(self, scores_QN: np.ndarray) -> np.ndarray:
        """From scores of passages to those of documents (Q, M)."""
        return np.maximum.reduceat(scores_QN, self.documents.starts_M, axis=1)

    def _require_vectors(self) -> None:
        if not self.has_vectors:
            raise UsageError(
                f"'{self.path}' has no vectors: it was built for words alone. Search with --by bm25, or build it again "
                f"with --run RUN."
            )

    def _require(self, fits: bool, name: str) -> None:
        if not fits:
            raise DataError(f"'{self.path}' cannot be used: {name} does not fit its documents. Build the index again.")


def _is_table(arrays: Mapping[str, np.ndarray], passages: int) -> bool:
    """Whether these arrays are a BM25 table of so many passages: nothing that is looked up lies outside of them."""
    data_E, rows_E, places_T = (arrays[name] for name in TABLE)
    if (
        any(array.ndim != 1 for array in arrays.values())
        or not len(places_T)
        or arrays["documents"].tolist() != [passages]
    ):
        return False
    whole = [array.dtype.kind in "iu" for array in (rows_E, places_T)]
    terms = arrays["terms"].tobytes().count(b"\n") + 1
    return (
        all(whole)
        and len(data_E) == len(rows_E) == places_T[-1]
        and places_T[0] == 0
        and len(places_T) == terms + 1
        and bool((np.diff(places_T) >= 0).all())
        and bool(((rows_E >= 0) & (rows_E < passages)).all())
    )


def open_index(index: "str | Path | Index") -> Index:
    """The index at a path, or the index itself."""
    if isinstance(index, Index):
        return index
    if not isinstance(index, str | Path) or "\0" in str(index):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{index!r} is not an index: expected the path of its folder, or an Index.")
    return Index(index)


def existing_index(path: Path, notes: list[str]) -> Index | None:
    """The index to update; None if there is none, or if it is damaged, which is noted."""
    try:
        index = Index(path)
        for part in ("documents", "bm25"):
            getattr(index, part)
        if index.has_vectors:
            for part in ("exact", "reduction", "embedder"):
                getattr(index, part)
        return index
    except (DataError, MissingInput) as error:
        if (path / manifest.NAME).is_file():
            notes.append(f"the index that was there is damaged and is built anew ({str(error).rstrip('.')})")
        return None
