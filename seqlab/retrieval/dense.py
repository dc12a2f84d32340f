"""The vectors nearest to a query: exactly, by one matrix product, or by an approximate index of faiss.

An approximate index is built from the vectors in memory and never read from a file: faiss does not survive a damaged
one. N: vectors, Q: queries, D: dimensions, K: kept results.
"""

import time
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch

from seqlab.errors import UsageError

Engine = Literal["exact", "hnsw", "ivf"]
BLOCK = 64  # columns whose largest score stands for all of them
SCORES = 1 << 25  # computed at a time: 128 MB
MEASURED = 200  # vectors by which the recall of an approximate index is measured


@dataclass(frozen=True)
class Nearest:
    """Rows and scores of the K best for each query, best first."""

    rows_QK: np.ndarray
    scores_QK: np.ndarray


class VectorSearch(Protocol):
    """Finds the nearest of some vectors by their inner product."""

    about: str

    def nearest(self, queries_QD: np.ndarray, k: int) -> Nearest: ...


class ExactSearch:
    """One matrix product: the fastest to some 100,000 vectors, and reproducible."""

    about = "exact"

    def __init__(self, vectors_ND: np.ndarray):
        self.vectors_ND = torch.from_numpy(np.ascontiguousarray(vectors_ND, np.float32))

    def scores(self, queries_QD: np.ndarray) -> np.ndarray:
        """(Q, N)"""
        queries_QD = np.asarray(queries_QD, np.float32)
        if len(queries_QD) == 1:  # numpy multiplies by one vector in half the time of torch
            return (self.vectors_ND.numpy() @ queries_QD[0])[None]
        return (torch.from_numpy(queries_QD) @ self.vectors_ND.T).numpy()

    def nearest(self, queries_QD: np.ndarray, k: int) -> Nearest:
        k = min(k, len(self.vectors_ND))
        batch = max(1, SCORES // max(1, len(self.vectors_ND)))
        queries_QD = np.asarray(queries_QD, np.float32)
        parts = [self._batch(queries_QD[first : first + batch], k) for first in range(0, len(queries_QD), batch)]
        rows, scores = zip(*parts, strict=True)
        return Nearest(np.concatenate(rows), np.concatenate(scores))

    def _batch(self, queries_QD: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        scores_QN = torch.from_numpy(self.scores(queries_QD))
        top = _top(scores_QN, k)
        return top[1].numpy(), top[0].numpy()


def _top(scores_QN: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The K largest scores of each row and their columns, largest first.

    They lie in the K blocks with the largest maxima, and finding those takes a fraction of the time of sorting all."""
    blocks = scores_QN.shape[1] // BLOCK
    if blocks <= 2 * k:
        return torch.topk(scores_QN, k, dim=1)
    whole = blocks * BLOCK
    blocked_QCW = scores_QN[:, :whole].view(len(scores_QN), blocks, BLOCK)
    best_QK = torch.topk(blocked_QCW.amax(2), k, dim=1, sorted=False).indices
    columns_QKW = best_QK[:, :, None] * BLOCK + torch.arange(BLOCK)
    rest_Q = torch.arange(whole, scores_QN.shape[1]).expand(len(scores_QN), -1)
    columns_QC = torch.cat([columns_QKW.flatten(1), rest_Q], dim=1)
    values_QK, places_QK = torch.topk(scores_QN.gather(1, columns_QC), k, dim=1)
    return values_QK, columns_QC.gather(1, places_QK)


class ApproximateSearch:
    """faiss HNSW (a graph of neighbors) or IVF (cells, of which the nearest are searched)."""

    def __init__(self, vectors_ND: np.ndarray, engine: Engine, seed: int = 1):
        faiss = _faiss(engine)
        vectors_ND = np.ascontiguousarray(vectors_ND, np.float32)
        count, dimensions = vectors_ND.shape
        began = time.perf_counter()
        if engine == "hnsw":
            self._index = faiss.IndexHNSWFlat(dimensions, 32, faiss.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction, self._index.hnsw.efSearch = 80, 64
            self.about = "faiss HNSW (32 links, 64 candidates)"
        else:
            cells = max(1, round(4 * count**0.5))
            self._index = faiss.IndexIVFFlat(
                faiss.IndexFlatIP(dimensions), dimensions, cells, faiss.METRIC_INNER_PRODUCT
            )
            self._index.cp.seed = seed
            self._index.train(vectors_ND)
            self._index.nprobe = max(1, cells // 16)
            self.about = f"faiss IVF ({cells:,} cells, {self._index.nprobe:,} searched)"
        self._index.add(vectors_ND)
        self.seconds = time.perf_counter() - began
        self.count = count

    def nearest(self, queries_QD: np.ndarray, k: int) -> Nearest:
        scores_QK, rows_QK = self._index.search(np.ascontiguousarray(queries_QD, np.float32), min(k, self.count))
        return Nearest(rows_QK, scores_QK)


def recall_at(k: int, approximate: VectorSearch, exact: VectorSearch, queries_QD: np.ndarray) -> float:
    """The share of the K nearest by exact search that an approximate one finds."""
    wanted_QK, found_QK = exact.nearest(queries_QD, k).rows_QK, approximate.nearest(queries_QD, k).rows_QK
    hits = sum(len(np.intersect1d(wanted, found)) for wanted, found in zip(wanted_QK, found_QK, strict=True))
    return hits / wanted_QK.size


def measured_recall(approximate: VectorSearch, exact: ExactSearch, k: int = 10) -> float:
    """`recall_at` with some of the vectors themselves as queries, evenly spaced and slightly moved."""
    vectors_ND = exact.vectors_ND.numpy()
    rows = np.linspace(0, len(vectors_ND) - 1, min(MEASURED, len(vectors_ND))).astype(int)
    noise = np.random.default_rng(1).normal(size=(len(rows), vectors_ND.shape[1])).astype(np.float32)
    scale = np.linalg.norm(vectors_ND[rows], axis=1, keepdims=True) * vectors_ND.shape[1] ** -0.5
    return recall_at(k, approximate, exact, vectors_ND[rows] + 0.5 * scale * noise)


def _faiss(engine: str) -> Any:
    if engine not in ("hnsw", "ivf"):
        raise UsageError(f"there is no engine '{engine}': expected exact, hnsw or ivf.")
    try:
        import faiss
    except ImportError:
        raise UsageError(
            f"the engine {engine} needs the package 'faiss-cpu': pip install 'seqlab[retrieval]'. Exact search needs "
            f"nothing, and takes some milliseconds for 100,000 passages."
        ) from None
    return faiss
