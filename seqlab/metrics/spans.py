"""How many spans, such as names, are found exactly: from a BIO tag for each word.

`B-type` begins a span, `I-type` goes on with it, `O` is outside. A sequence that breaks these rules is read as by
conlleval and by default in seqeval: an `I-type` that has nothing of its type to go on with begins a span.
"""

from collections.abc import Sequence

import numpy as np

Span = tuple[str, int, int]  # type, first word, last word
NO_TYPE = "_"  # of the bare tags B and I


def spans(tags: Sequence[str]) -> list[Span]:
    """In the order of the text. What is neither a B nor an I is outside."""
    found: list[Span] = []
    inside = None  # the type of the span that the word before belongs to
    for place, tag in enumerate(tags):
        position, _, kind = tag.partition("-")
        kind = kind or NO_TYPE
        if position not in ("B", "I"):
            inside = None
        elif position == "B" or kind != inside:
            found.append((kind, place, place))
            inside = kind
        else:
            found[-1] = (kind, found[-1][1], place)
    return found


def span_sums(gold_tags: Sequence[str], predicted_tags: Sequence[str]) -> np.ndarray:
    """Of one sentence: [correct, predicted, gold] spans. A span is correct with its type and both its ends."""
    assert len(gold_tags) == len(predicted_tags), f"{len(predicted_tags)} tags for {len(gold_tags)} words"
    gold, predicted = set(spans(gold_tags)), set(spans(predicted_tags))
    return np.array([len(gold & predicted), len(predicted), len(gold)], float)


def precision(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of the predicted spans that are correct; 0 where none is predicted."""
    return _percent(sums_NK[..., 0], sums_NK[..., 1])


def recall(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of the spans that are found; 0 where there are none."""
    return _percent(sums_NK[..., 0], sums_NK[..., 2])


def entity_f1(sums_NK: np.ndarray) -> np.ndarray:
    """The harmonic mean of precision and recall; 0 where there is no span on either side."""
    return _percent(2 * sums_NK[..., 0], sums_NK[..., 1] + sums_NK[..., 2])


def _percent(part_N: np.ndarray, whole_N: np.ndarray) -> np.ndarray:
    return 100 * part_N / np.where(whole_N > 0, whole_N, 1)
