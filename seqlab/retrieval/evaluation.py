"""How well rankers answer queries: metrics with intervals over queries, and verdicts in the words of comparisons.

A held-out query is seen if a document that is relevant for it is also relevant for a training query: a ranker may have
remembered it. All figures are given on all, seen and unseen queries; verdicts are about the unseen ones.
Q: queries, U: those of one part, K: sums of a query.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from seqlab.baselines.ranker import Ranker, rank_queries
from seqlab.comparison.judgment.statistics import LEVEL, POWER, Estimate, estimate
from seqlab.comparison.judgment.verdicts import judge
from seqlab.comparison.results import Pair
from seqlab.data.documents.document import Qrels, Query, relevant_documents
from seqlab.data.documents.encoded import MIN_JUDGED
from seqlab.data.documents.pairs import seen_queries
from seqlab.metrics.example_metric import ExampleMetric, mean_average_precision, mrr, ndcg_10, recall_100
from seqlab.metrics.metric import Metric

FEW_OF_ALL = 0.5  # the share of queries that an interval counts, from which it is said
METRICS: tuple[ExampleMetric, ...] = (ndcg_10, mean_average_precision, mrr, recall_100)


@dataclass(frozen=True)
class Measured:
    """A metric on some queries, with its 95% interval for other queries of the same kind; None for a single query."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Evaluation:
    """The sums of every ranker, metric and query, and what follows from them."""

    queries: Sequence[Query]
    seen_Q: np.ndarray | None  # None without training queries
    sums: Mapping[str, Mapping[str, np.ndarray]]  # by ranker and metric: (Q, K)
    about: Mapping[str, str]  # by ranker
    judged: Sequence[tuple[str, str]] = ()  # pairs of rankers
    notes: tuple[str, ...] = ()
    rankings: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict, repr=False)

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """Which queries are in each part that has any (Q)."""
        parts = {"all": np.ones(len(self.queries), bool)}
        if self.seen_Q is not None:
            parts |= {"seen": self.seen_Q, "unseen": ~self.seen_Q}
        return {name: part_Q for name, part_Q in parts.items() if part_Q.any()}

    @property
    def deciding(self) -> str:
        """The part on which verdicts are given: the unseen queries, if there are enough of them."""
        unseen_Q = self.parts.get("unseen")
        return "unseen" if unseen_Q is not None and unseen_Q.sum() >= MIN_JUDGED else "all"

    @property
    def order_note(self) -> list[str]:
        """A note if neighbors in the file of queries score so alike that an interval counts them as far fewer."""
        queries = int(self.parts[self.deciding].sum())
        counted_as: dict[str, float] = {}
        for ranker in self.sums:
            noise = self._estimate(ranker, ndcg_10.description.key, self.deciding).text
            counted_as[ranker] = noise.units if noise else queries
        ranker = min(counted_as, key=counted_as.__getitem__, default=None)
        if ranker is None or counted_as[ranker] > FEW_OF_ALL * queries:
            return []
        return [
            f"queries beside each other in the file score alike by {ranker}, so that {queries:,} count as "
            f"{max(1, round(counted_as[ranker])):,} in its interval, which is wider: if their order has no meaning, "
            f"shuffle them once"
        ]

    def _estimate(self, ranker: str, metric: str, part: str) -> Estimate:
        sums_UK = self.sums[ranker][metric][self.parts[part]]
        against_UK = np.stack([np.zeros(len(sums_UK)), sums_UK[:, 1]], axis=1)  # the interval of a difference from 0
        return estimate(against_UK, sums_UK)

    def value(self, ranker: str, metric: str = ndcg_10.description.key, part: str = "all") -> Measured:
        found = self._estimate(ranker, metric, part)
        if found.low is None or found.high is None:
            return Measured(found.difference, None, None)
        low, high = _description(metric).possible((found.low, found.high))
        return Measured(found.difference, low, high)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Verdicts by nDCG@10 on the deciding part."""
        metric = ndcg_10.description
        sums = {name: sums[metric.key][self.parts[self.deciding]] for name, sums in self.sums.items()}
        return judge(self.judged, sums, metric)

    def detectable(self, pair: Pair) -> float:
        """The difference that so many queries would show at 80% power, given how these two rankers vary."""
        freedom = pair.df or math.inf
        return float((stdtrit(freedom, 1 - LEVEL / 2) + stdtrit(freedom, POWER)) * math.sqrt(pair.v_text))

    def as_dict(self) -> dict[str, Any]:
        return {
            "queries": {name: int(part_Q.sum()) for name, part_Q in self.parts.items()},
            "deciding": self.deciding,
            "rankers": {
                name: {
                    "about": self.about[name],
                    **{
                        key: {part: vars(self.value(name, key, part)) for part in self.parts} for key in self.sums[name]
                    },
                }
                for name in self.sums
            },
            "pairs": [{**vars(pair), "detectable": self.detectable(pair)} for pair in self.pairs],
            "notes": list(self.notes),
        }


def evaluate_rankers(
    rankers: Mapping[str, Ranker],
    ids: Sequence[str],
    queries: Sequence[Query],
    qrels: Qrels,
    training: Qrels | None = None,
    judged: Sequence[tuple[str, str]] = (),
    notes: Sequence[str] = (),
) -> Evaluation:
    """Rank all documents, whose names are `ids`, for every query; `judged` names pairs of rankers for verdicts.

    training: the judgments of training queries, by which queries are seen or unseen."""
    gold = [qrels[query.id] for query in queries]
    rankings = {name: rank_queries(ranker, [query.text for query in queries], ids) for name, ranker in rankers.items()}
    sums = {
        name: {metric.description.key: metric.sums(gold, found) for metric in METRICS}
        for name, found in rankings.items()
    }
    seen_Q = None
    if training is not None:
        seen_Q = seen_queries(map(relevant_documents, gold), map(relevant_documents, training.values()))
    about = {name: ranker.about for name, ranker in rankers.items()}
    found = Evaluation(queries, seen_Q, sums, about, judged, tuple(notes), rankings)
    return replace(found, notes=(*notes, *found.order_note))


def _description(key: str) -> Metric:
    return next(metric.description for metric in METRICS if metric.description.key == key)
