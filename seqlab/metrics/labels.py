"""How many labels are correct: of texts, or of words."""

from collections.abc import Sequence

import numpy as np

UNSCORED = "_"  # a word without a gold tag, as CoNLL-U writes it


def correct_sums(gold: str | Sequence[str], predicted: str | Sequence[str]) -> np.ndarray:
    """[correct, count] of one example: of its label, or of its tags without those that are not scored."""
    if isinstance(gold, str):
        return np.array([gold == predicted, 1], float)
    assert not isinstance(predicted, str), "tags of words, not one tag"
    _refuse_unequal(gold, predicted)
    marks = [right == given for right, given in zip(gold, predicted, strict=True) if right != UNSCORED]
    return np.array([sum(marks), len(marks)], float)


def accuracy(sums_NK: np.ndarray) -> np.ndarray:
    """Percent correct, from [correct, count]; not a number where nothing was counted."""
    with np.errstate(invalid="ignore"):
        return 100 * sums_NK[..., 0] / sums_NK[..., 1]


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The mean of every label's F1 in percent, over the labels that occur on either side: rare ones count as much."""
    counts_LL = confusion(gold, predicted, sorted({*gold, *predicted}))
    f1_L = 2 * counts_LL.diagonal() / (counts_LL.sum(0) + counts_LL.sum(1))
    return float(100 * f1_L.mean())


def confusion(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """How often each label (row) was taken for each (column), in the order of `labels`, which holds all that occur."""
    _refuse_unequal(gold, predicted)
    places = {label: place for place, label in enumerate(labels)}
    counts_LL = np.zeros((len(labels), len(labels)), int)
    for right, chosen in zip(gold, predicted, strict=True):
        counts_LL[places[right], places[chosen]] += 1
    return counts_LL


def _refuse_unequal(gold: Sequence[str], predicted: Sequence[str]) -> None:
    # a single label would be taken for a sequence of its letters
    assert not isinstance(gold, str) and not isinstance(predicted, str), "sequences of labels, not one label"
    assert len(gold) == len(predicted), f"{len(predicted)} predictions for {len(gold)} labels"
