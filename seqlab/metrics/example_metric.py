"""Metrics of predictions, one example at a time: what `task.metric` names.

A metric of your own is a function from (gold, predicted) to a number, which is averaged over examples, or to a pair of
sums, whose ratio over all examples is the metric. CONTRIBUTING.md shows one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import getdoc
from typing import Any

import numpy as np

from seqlab.errors import UsageError
from seqlab.metrics.bleu import bleu_sums, chrf_sums
from seqlab.metrics.descriptions import ACCURACY, BLEU, CHRF, ENTITY_F1, EXACT, MAP, MRR, NDCG_10, RECALL_100
from seqlab.metrics.labels import correct_sums
from seqlab.metrics.metric import Metric
from seqlab.metrics.ranking import average_precision, ndcg, recall, reciprocal_rank
from seqlab.metrics.spans import span_sums
from seqlab.registry import METRICS

Score = Callable[[Any, Any], Any]  # gold and predicted, to a number or to sums


@dataclass(frozen=True)
class ExampleMetric:
    """A description, and the function that scores one example.

    Gold and predicted are labels (classification), tags of words, with "_" on both sides where a word is not scored
    (tagging), texts (translation), or the relevance of documents and a ranking of them (retrieval). `compares` names
    the kinds that the function takes; empty: all of them."""

    description: Metric
    score: Score
    compares: tuple[str, ...] = ()

    def __call__(self, gold: Any, predicted: Any) -> Any:
        return self.score(gold, predicted)

    def sums(self, gold: Sequence[Any], predicted: Sequence[Any]) -> np.ndarray:
        """The sums of every example, (U, K)."""
        rows = [np.atleast_1d(np.asarray(self(*pair), float)) for pair in zip(gold, predicted, strict=True)]
        if rows and len(rows[0]) == 1:  # one number per example: their mean
            rows = [np.array([row[0], 1.0]) for row in rows]
        return np.array(rows)

    def value(self, gold: Sequence[Any], predicted: Sequence[Any]) -> float:
        """The metric over all examples."""
        return float(self.description.value(self.sums(gold, predicted).sum(0)))


def metric(label: str = "", **description: Any) -> Callable[[Score], ExampleMetric]:
    """Decorate a function of (gold, predicted) to describe its metric; the fields are those of `Metric`."""
    return lambda score: _from_function(score, label, **description)


def find_metric(name: str, compares: str) -> ExampleMetric:
    """The metric of this name for predictions of this kind: registered, or `package.module:function`."""
    loaded = METRICS.load(name)
    metric = loaded if isinstance(loaded, ExampleMetric) else _from_function(loaded)
    if metric.compares and compares not in metric.compares:
        raise UsageError(
            f"task.metric={name} scores {' or '.join(metric.compares)}, but this task predicts {compares}."
        )
    return metric


def _from_function(score: Score, label: str = "", **description: Any) -> ExampleMetric:
    """A metric named after the function; the first line of its docstring says what it means."""
    key = getattr(score, "__name__", "metric")
    meaning = (getdoc(score) or "a metric of your own").split("\n")[0].rstrip(".")
    description = {"digits": 4, "lowest": None, "meaning": meaning[:1].lower() + meaning[1:]} | description
    return ExampleMetric(Metric(key, label or key.replace("_", " "), **description), score)


accuracy = ExampleMetric(ACCURACY, correct_sums, ("labels", "tags"))
entity_f1 = ExampleMetric(ENTITY_F1, span_sums, ("tags",))
exact = ExampleMetric(EXACT, lambda gold, predicted: (gold == predicted, 1), ("labels", "texts"))
chrf = ExampleMetric(CHRF, chrf_sums, ("texts",))
ndcg_10 = ExampleMetric(NDCG_10, ndcg, ("rankings",))
mrr = ExampleMetric(MRR, reciprocal_rank, ("rankings",))
mean_average_precision = ExampleMetric(MAP, average_precision, ("rankings",))
recall_100 = ExampleMetric(RECALL_100, recall, ("rankings",))


def bleu(tokenizer: str = "13a") -> ExampleMetric:
    return ExampleMetric(BLEU, partial(bleu_sums, tokenizer=tokenizer), ("texts",))


bleu_13a = bleu()
