"""How well a ranking of documents answers a query, as trec_eval computes it.

Gold is the relevance of documents by id: above 0 is relevant, an unknown document is not. Predicted is the ids of the
documents that were found, best first. Each function scores one query; without a relevant document the score is 0.
Q: queries, N: documents.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

Relevance = Mapping[str, int]  # of one query: document id -> relevance
DEPTH = 1000  # documents of a ranking that are scored, as at TREC


def ndcg(gold: Relevance, ranked: Sequence[str], depth: int = 10) -> float:
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen 2002): gain / log2(rank + 1), over the best."""
    best = _discounted(sorted((gain for gain in gold.values() if gain > 0), reverse=True)[:depth])
    return _discounted(max(0, gold.get(document, 0)) for document in ranked[:depth]) / best if best else 0.0


def average_precision(gold: Relevance, ranked: Sequence[str]) -> float:
    """The precision at each relevant document, averaged over all relevant ones; one that is not found counts 0."""
    ranks = _relevant_ranks(gold, ranked)
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / max(1, _relevant(gold))


def reciprocal_rank(gold: Relevance, ranked: Sequence[str]) -> float:
    """1 / the rank of the first relevant document."""
    ranks = _relevant_ranks(gold, ranked)
    return 1 / ranks[0] if ranks else 0.0


def recall(gold: Relevance, ranked: Sequence[str], depth: int = 100) -> float:
    """The share of the relevant documents that is among the first."""
    return len(_relevant_ranks(gold, ranked[:depth])) / max(1, _relevant(gold))


def rank_documents(
    scores_QN: np.ndarray, ids: Sequence[str], depth: int = DEPTH, floor: float = -math.inf
) -> list[list[str]]:
    """The ids of the best documents for each query, best first.

    Scores are compared in float32, and of equal ones the id that comes last in the alphabet is first, as in trec_eval:
    the order of a file gives no advantage. A document that scores `floor` or less is not found.
    """
    assert scores_QN.shape[1] == len(ids), f"{scores_QN.shape[1]} scores for {len(ids)} documents"
    assert not np.isnan(scores_QN).any(), "a score is not a number"
    place_N = np.empty(len(ids), np.int64)
    place_N[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)] = np.arange(len(ids))
    rankings = []
    for scores_N in scores_QN.astype(np.float32, copy=False):
        found = np.flatnonzero(scores_N > floor)
        if len(found) > depth:  # sorting all of them would take most of the time
            least = np.partition(scores_N[found], -depth)[-depth]
            found = found[scores_N[found] >= least]
        order = np.lexsort((place_N[found], -scores_N[found]))[:depth]
        rankings.append([ids[row] for row in found[order]])
    return rankings


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _relevant(gold: Relevance) -> int:
    return sum(relevance > 0 for relevance in gold.values())


def _relevant_ranks(gold: Relevance, ranked: Sequence[str]) -> list[int]:
    """The ranks, from 1, of the relevant documents that were found."""
    assert len(set(ranked)) == len(ranked), "a document is ranked twice"
    return [rank for rank, document in enumerate(ranked, 1) if gold.get(document, 0) > 0]
