"""Two rankings made one: a weighted sum of scaled scores (Bruch et al. 2023), or reciprocal ranks beside it.

The weight is chosen on training queries in folds that share no relevant document. Scores are those of passages, or of
documents where each is a passage. Q: queries, N: passages, M: documents, W: weights.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from seqlab.baselines.ranker import SCORES, Ranker
from seqlab.data.documents.document import Qrels, Query
from seqlab.data.documents.folds import document_folds
from seqlab.errors import DataError
from seqlab.metrics.ranking import ndcg, rank_documents

Scale = Literal["range", "deviation"]
WEIGHTS_W = np.linspace(0, 1, 21)  # of the second ranker
FOLDS = 5
RANK_OFFSET = 60  # of reciprocal ranks (Cormack et al. 2009)
SCORED = 10  # documents of a ranking by which a weight is chosen

Reduce = Callable[[np.ndarray], np.ndarray]  # scores of passages (Q, N) to those of documents (Q, M)


def scaled(scores_QN: np.ndarray, scale: Scale = "range") -> np.ndarray:
    """The scores of each query, so that those of two rankers can be weighed.

    range: from 0 for the lowest to 1 for the best; deviation: from their mean, in standard deviations. Zeros if all are
    equal, or if the ranker finds nothing."""
    found_QN = np.where(np.isfinite(scores_QN), scores_QN, 0)
    if scale == "range":
        zero_Q, unit_Q = found_QN.min(1, keepdims=True), np.ptp(found_QN, axis=1, keepdims=True)
    else:
        zero_Q, unit_Q = found_QN.mean(1, keepdims=True), found_QN.std(1, keepdims=True)
    equal_Q = unit_Q <= 1e-12
    return np.where(equal_Q, 0, (found_QN - zero_Q) / np.where(equal_Q, 1, unit_Q)).astype(np.float32, copy=False)


@dataclass(frozen=True)
class Fusion:
    """(1 - weight) x the scaled score of the first ranker + weight x that of the second; then the best passage.

    What neither ranker finds is not found: minus infinity."""

    first: Ranker
    second: Ranker
    weight: float = 0.5
    scale: Scale = "range"
    reduce: Reduce = lambda scores_QN: scores_QN
    floor: float = -math.inf

    @property
    def about(self) -> str:
        return f"{1 - self.weight:.2f} x words + {self.weight:.2f} x vectors, scores scaled by their {self.scale}"

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        return self.fused(self.first.scores(queries), self.second.scores(queries), self.weight)

    def fused(self, first_QN: np.ndarray, second_QN: np.ndarray, weight: float) -> np.ndarray:
        found_QN = (first_QN > self.first.floor) | (second_QN > self.second.floor)
        first_QN, second_QN = scaled(first_QN, self.scale), scaled(second_QN, self.scale)
        return self.reduce(np.where(found_QN, (1 - weight) * first_QN + weight * second_QN, np.float32(-np.inf)))


@dataclass(frozen=True)
class ReciprocalRanks:
    """The sum of 1 / (60 + rank) over both rankers; what a ranker does not find has no rank."""

    first: Ranker
    second: Ranker
    floor: float = 0.0
    about: str = f"1 / ({RANK_OFFSET} + rank), summed over words and vectors"

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        first_QM, second_QM = self.first.scores(queries), self.second.scores(queries)
        return _reciprocal(first_QM, self.first.floor) + _reciprocal(second_QM, self.second.floor)


def _reciprocal(scores_QM: np.ndarray, floor: float) -> np.ndarray:
    order_QM = np.argsort(-scores_QM, axis=1, kind="stable")
    rank_QM = np.empty_like(order_QM)
    np.put_along_axis(rank_QM, order_QM, np.arange(1, scores_QM.shape[1] + 1)[None], axis=1)
    return np.where(scores_QM > floor, 1 / (RANK_OFFSET + rank_QM), 0).astype(np.float32)


@dataclass(frozen=True)
class Tuned:
    """The fusion with the chosen weight and scale, and how it was chosen: in words, and by fold."""

    fusion: Fusion
    weights: tuple[float, ...]  # the best one without each fold
    first: float  # nDCG@10 of the first ranker alone on the training queries
    fused: float  # of the fusion, each fold with the weight that was chosen without it
    queries: int

    def __str__(self) -> str:
        weights = ", ".join(f"{weight:.2f}" for weight in self.weights)
        return (
            f"the weight of the vectors is {self.fusion.weight:.2f}, chosen on {self.queries:,} training queries in "
            f"{len(self.weights)} folds without common documents (best without each fold: {weights}; nDCG@10 there "
            f"{self.fused:.3f}, words alone {self.first:.3f})"
        )


def tune(
    fusion: Fusion,
    queries: Sequence[Query],
    qrels: Qrels,
    ids: Sequence[str],
    scales: Sequence[Scale] = ("range", "deviation"),
) -> Tuned:
    """Choose weight and scale by nDCG@10. Queries that a ranker was trained on would make it look too good."""
    parts = document_folds({query.id: qrels[query.id] for query in queries}, FOLDS)
    if len(parts) < 2:
        raise DataError(
            f"a weight cannot be tuned on {len(queries):,} queries that all share relevant documents: give training "
            f"queries about different documents, or a weight."
        )
    fold_of = {name: fold for fold, part in enumerate(parts) for name in part}
    fold_Q = np.array([fold_of[query.id] for query in queries])
    best: Tuned | None = None
    for scale in scales:
        tried = _tune_weight(replace(fusion, scale=scale), queries, qrels, ids, fold_Q)
        if best is None or tried.fused > best.fused:
            best = tried
    assert best is not None
    return best


def _tune_weight(
    fusion: Fusion, queries: Sequence[Query], qrels: Qrels, ids: Sequence[str], fold_Q: np.ndarray
) -> Tuned:
    values_QW = _values_by_weight(fusion, queries, qrels, ids)
    chosen, fused = [], 0.0
    for fold in range(fold_Q.max() + 1):
        place = int(values_QW[fold_Q != fold].mean(0).argmax())
        chosen.append(float(WEIGHTS_W[place]))
        fused += float(values_QW[fold_Q == fold, place].sum())
    tuned = replace(fusion, weight=round(float(np.mean(chosen)), 3))
    return Tuned(tuned, tuple(chosen), float(values_QW[:, 0].mean()), fused / len(queries), len(queries))


def _values_by_weight(fusion: Fusion, queries: Sequence[Query], qrels: Qrels, ids: Sequence[str]) -> np.ndarray:
    """nDCG@10 of each query with each weight (Q, W)."""
    batch = max(1, SCORES // max(1, len(ids)))
    values: list[np.ndarray] = []
    for begin in range(0, len(queries), batch):
        some = queries[begin : begin + batch]
        texts = [query.text for query in some]
        first_QN, second_QN = fusion.first.scores(texts), fusion.second.scores(texts)
        by_weight = []
        for weight in WEIGHTS_W:
            rankings = rank_documents(fusion.fused(first_QN, second_QN, float(weight)), ids, SCORED)
            by_weight.append([ndcg(qrels[query.id], found) for query, found in zip(some, rankings, strict=True)])
        values.append(np.array(by_weight).T)
    return np.concatenate(values)
