"""Precision, recall and F1 of spans such as names, from the BIO tags of words.

`B-type` begins a span, `I-type` continues it, `O` is outside. A sequence that breaks these rules is read as conlleval
and seqeval (by default) read it: an `I-type` that does not continue a span of its type begins one.
"""

from collections.abc import Sequence

import numpy as np

Span = tuple[str, int, int]  # type, first word, last word
NO_TYPE = "_"  # of the bare tags B and I


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans in the order of the text. Tags other than B and I are outside."""
    result: list[Span] = []
    current = None  # the type of the span that the previous word belongs to
    for index, tag in enumerate(tags):
        letter, _, span_type = tag.partition("-")
        span_type = span_type or NO_TYPE
        if letter not in ("B", "I"):
            current = None
        elif letter == "B" or span_type != current:
            result.append((span_type, index, index))
            current = span_type
        else:
            result[-1] = (span_type, result[-1][1], index)
    return result


def span_sums(gold_tags: Sequence[str], predicted_tags: Sequence[str]) -> np.ndarray:
    """[correct, predicted, gold] spans of one sentence. A span is correct if its type and both its ends are."""
    assert len(gold_tags) == len(predicted_tags), f"{len(predicted_tags)} tags for {len(gold_tags)} words"
    gold, predicted = set(spans(gold_tags)), set(spans(predicted_tags))
    return np.array([len(gold & predicted), len(predicted), len(gold)], float)


def precision(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of predicted spans that are correct; 0 if none is predicted."""
    return _percentage(sums_NK[..., 0], sums_NK[..., 1])


def recall(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of gold spans that are predicted; 0 if there are none."""
    return _percentage(sums_NK[..., 0], sums_NK[..., 2])


def entity_f1(sums_NK: np.ndarray) -> np.ndarray:
    """The harmonic mean of precision and recall; 0 if neither side has a span."""
    return _percentage(2 * sums_NK[..., 0], sums_NK[..., 1] + sums_NK[..., 2])


def _percentage(part_N: np.ndarray, whole_N: np.ndarray) -> np.ndarray:
    return 100 * part_N / np.where(whole_N > 0, whole_N, 1)
