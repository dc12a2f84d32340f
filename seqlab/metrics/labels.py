"""Accuracy and macro F1 of labels and tags."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from seqlab.metrics.unscored import UNSCORED


def correct_sums(gold: str | Sequence[str], predicted: str | Sequence[str]) -> np.ndarray:
    """[correct, count] for one example: its label, or its tags without unscored ones."""
    if isinstance(gold, str):
        return np.array([gold == predicted, 1], float)
    assert not isinstance(predicted, str) and len(gold) == len(predicted), (
        f"{len(predicted)} predictions for {len(gold)} labels"
    )
    correct = [label == guess for label, guess in zip(gold, predicted, strict=True) if label != UNSCORED]
    return np.array([sum(correct), len(correct)], float)


def accuracy(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of correct labels, from [correct, count]; NaN if the count is 0."""
    with np.errstate(invalid="ignore"):
        return 100 * sums_NK[..., 0] / sums_NK[..., 1]


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 in percent, averaged over the labels that occur on either side: rare ones count as much as frequent ones."""
    correct = Counter(label for label, guess in zip(gold, predicted, strict=True) if label == guess)
    total = Counter(gold) + Counter(predicted)
    return float(100 * np.mean([2 * correct[label] / total[label] for label in sorted(total)]))
