"""How many spans, such as names, are found exactly: from a BIO tag for each word.

`B-type` begins a span, `I-type` goes on with it, `O` is outside. A sequence that breaks these rules is read as by
conlleval and by default in seqeval: an `I-type` that has nothing of its type to go on with begins a span.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Span = tuple[str, int, int]  # type, first word, last word
NO_TYPE = "_"  # of the bare tags B and I


@dataclass(frozen=True)
class TypeScores:
    """The scores of one type, in percent, and how many spans of it there are to be found."""

    type: str
    precision: float
    recall: float
    f1: float
    support: int


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
    return _sums(*_both(gold_tags, predicted_tags))


def precision(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of the predicted spans that are correct; 0 where none is predicted."""
    return _percent(sums_NK[..., 0], sums_NK[..., 1])


def recall(sums_NK: np.ndarray) -> np.ndarray:
    """The percentage of the spans that are found; 0 where there are none."""
    return _percent(sums_NK[..., 0], sums_NK[..., 2])


def entity_f1(sums_NK: np.ndarray) -> np.ndarray:
    """The harmonic mean of precision and recall; 0 where there is no span on either side."""
    return _percent(2 * sums_NK[..., 0], sums_NK[..., 1] + sums_NK[..., 2])


def by_type(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> list[TypeScores]:
    """Of the tags of sentences: the scores of every type that occurs on either side, in alphabetical order."""
    sums: dict[str, np.ndarray] = {}
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        there, said = _both(gold_tags, predicted_tags)
        for kind in {kind for kind, _, _ in there | said}:
            own = _sums(*({span for span in side if span[0] == kind} for side in (there, said)))
            sums[kind] = sums.get(kind, 0) + own
    return [
        TypeScores(kind, float(precision(of_K)), float(recall(of_K)), float(entity_f1(of_K)), int(of_K[2]))
        for kind, of_K in sorted(sums.items())
    ]


def _both(gold_tags: Sequence[str], predicted_tags: Sequence[str]) -> tuple[set[Span], set[Span]]:
    assert len(gold_tags) == len(predicted_tags), f"{len(predicted_tags)} tags for {len(gold_tags)} words"
    return set(spans(gold_tags)), set(spans(predicted_tags))


def _sums(gold: set[Span], predicted: set[Span]) -> np.ndarray:
    return np.array([len(gold & predicted), len(predicted), len(gold)], float)


def _percent(part_N: np.ndarray, whole_N: np.ndarray) -> np.ndarray:
    return 100 * part_N / np.where(whole_N > 0, whole_N, 1)
