"""What scores documents for queries, whether it counts words or compares vectors.

Q: queries, N: documents.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from seqlab.metrics.ranking import DEPTH, rank_documents

SCORES = 1 << 24  # computed at a time: 64 MB


class Ranker(Protocol):
    """Scores all documents that it was fitted on. A document that scores `floor` or less is not found."""

    @property
    def about(self) -> str: ...

    @property
    def floor(self) -> float: ...

    def scores(self, queries: Sequence[str]) -> np.ndarray:
        """(Q, N) in float32; a higher score is better."""
        ...


def rank_queries(ranker: Ranker, queries: Sequence[str], ids: Sequence[str], depth: int = DEPTH) -> list[list[str]]:
    """The ids of the best documents for each query, best first; `ids` are those of the ranker's documents."""
    batch = max(1, SCORES // max(1, len(ids)))
    rankings: list[list[str]] = []
    for first in range(0, len(queries), batch):
        scores_QN = ranker.scores(queries[first : first + batch])
        rankings += rank_documents(scores_QN, ids, depth, ranker.floor)
    return rankings
