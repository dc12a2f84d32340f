"""The most frequent label, whatever the text."""

from collections import Counter
from collections.abc import Sequence

from seqlab.data.examples.example import LabeledText


class Majority:
    """Predicts the most frequent label."""

    def __init__(self, label: str):
        self.label = label
        self.about = f"always {label}, the most frequent label of the training examples"

    @classmethod
    def fit(cls, examples: Sequence[LabeledText]) -> "Majority":
        assert examples, "no example to count"
        return cls(most_frequent(Counter(example.label for example in examples)))

    def predict(self, examples: Sequence[LabeledText]) -> list[str]:
        return [self.label] * len(examples)


def most_frequent(counts: Counter[str]) -> str:
    """Ties are broken alphabetically, so the order of the examples does not matter."""
    return min(counts, key=lambda label: (-counts[label], label))
