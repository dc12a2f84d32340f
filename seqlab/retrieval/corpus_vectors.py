"""From documents to the vectors of their passages: how long passages are, SIF weights, and a reduction fitted to them.

N: passages, D: dimensions, V: vocabulary.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.passages import LENGTH, OVERLAP, Passage, passages
from seqlab.data.documents.read import read_documents
from seqlab.errors import UsageError
from seqlab.registry import CORPORA
from seqlab.retrieval.embedding import Pooled, TextEmbedder
from seqlab.retrieval.reduction import Method, Reduction, fit_reduction
from seqlab.retrieval.shards import Shard
from seqlab.runs.run import Run
from seqlab.storage import sha256

FIT_VECTORS = 20_000  # evenly spaced, to which PCA and the common component are fitted
SAMPLED = 100  # documents by which the characters of a token are estimated
FILLED = 0.8  # of the tokens that a model reads, by a passage on average: some texts take more tokens


@dataclass(frozen=True)
class VectorSettings:
    """How texts become vectors. `length`: characters of a passage; None for the usual, or fewer if the model reads
    fewer."""

    pooled: Pooled = field(default_factory=Pooled)
    dimensions: int | None = None
    method: Method = "truncate"
    normalize: bool = True
    length: int | None = None
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        if self.method not in ("truncate", "pca"):
            raise UsageError(f"there is no reduction '{self.method}': expected truncate or pca.")
        if self.method == "pca" and self.dimensions is None:
            raise UsageError("pca does nothing without a number of dimensions: give one.")
        if self.length is not None and self.length < 1:
            raise UsageError(f"passages of {self.length:,} characters were asked for: expected at least 1.")

    @property
    def fitted(self) -> bool:
        """Whether the reduction depends on the vectors."""
        return self.method == "pca" or self.pooled.pooling == "sif"


@dataclass(frozen=True)
class Source:
    """Documents that can be read any number of times."""

    paths: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)

    def documents(self, fixes: DocumentFixes | None = None) -> Iterator[Document]:
        if len(self.paths) == 1 and self.paths[0] in CORPORA and not Path(self.paths[0]).exists():
            return iter(built_in_documents(self.paths[0]))
        return read_documents(self.paths, fixes, self.columns)


@cache
def built_in_documents(name: str) -> Sequence[Document]:
    """Those of a built-in collection; UsageError for a corpus of another kind, which is not even opened."""
    if CORPORA.default_overrides(name).get("task.name") != "embed":
        raise UsageError(f"'{name}' is no collection of documents: see seqlab list corpora, or give files or folders.")
    return CORPORA.load(name)(None).documents


@dataclass(frozen=True)
class Embedding:
    """All that is needed to embed further texts in the same way, but for the run and the reduction."""

    settings: VectorSettings
    embedder: TextEmbedder
    length: int
    shares_V: np.ndarray | None = None  # of SIF weights

    @property
    def fingerprint(self) -> str:
        shares = "" if self.shares_V is None else sha256(self.shares_V.tobytes())
        return f"{self.embedder.fingerprint} {shares}"

    def fitted(self, reduction: Reduction) -> dict[str, np.ndarray]:
        """What was fitted to the documents, for a file."""
        return reduction.arrays() | ({} if self.shares_V is None else {"shares": self.shares_V})

    def passages(self, documents: Iterable[Document]) -> Iterator[Passage]:
        return (piece for one in documents for piece in passages(one, self.length, self.settings.overlap))


def prepare(run: Run, documents: Callable[[], Iterable[Document]], settings: VectorSettings) -> Embedding:
    """Read what the vectors depend on besides their texts: the length of passages, the shares of tokens."""
    shares_V = None
    if settings.pooled.pooling == "sif":
        counting = TextEmbedder(run)
        shares_V = counting.token_shares(document.with_title for document in documents())
    embedder = TextEmbedder(run, settings.pooled, shares_V)
    length = settings.length or fitting_length(embedder, documents(), settings.overlap)
    return Embedding(settings, embedder, length, shares_V)


def fitting_length(embedder: TextEmbedder, documents: Iterable[Document], overlap: int) -> int:
    """Characters of a passage: the usual number, or fewer if the model reads, or was trained to read, fewer tokens."""
    limits = [limit for limit in (embedder.usual_length, embedder.limit and FILLED * embedder.limit) if limit]
    if not limits:
        return LENGTH
    texts = [document.with_title[: 10 * LENGTH] for document in islice(documents, SAMPLED)]
    per_token = sum(map(len, texts)) / max(1, sum(map(embedder.count_tokens, texts)))
    return max(overlap + 1, min(LENGTH, int(min(limits) * per_token)))


def fit(shards: Iterable[Shard], total: int, settings: VectorSettings) -> Reduction:
    """The reduction of `total` vectors, fitted to some of them where that is needed."""
    sample: list[np.ndarray] = []
    step, first = max(1, -(-total // FIT_VECTORS)), 0
    for shard in shards:
        vectors_ND = shard.vectors()
        if not settings.fitted:
            sample = [vectors_ND[:0]]
            break
        sample.append(vectors_ND[-first % step :: step])
        first += len(vectors_ND)
    options: dict[str, Any] = {"remove_common": settings.pooled.pooling == "sif", "normalize": settings.normalize}
    return fit_reduction(np.concatenate(sample), settings.dimensions, settings.method, **options)
