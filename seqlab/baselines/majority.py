"""The most frequent label, whatever the text."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from seqlab.data.examples.example import LabeledText


class Majority:
    """Label frequencies with add-one smoothing, in alphabetical order."""

    def __init__(self, counts: Counter[str]):
        self.labels = tuple(sorted(counts))
        counts_L = np.array([counts[label] for label in self.labels])
        self.label = self.labels[int(counts_L.argmax())]
        self.probability_L = (counts_L + 1) / (counts_L.sum() + len(self.labels))
        self.about = f"always {self.label}, the most frequent label of the training examples"

    @classmethod
    def fit(cls, examples: Sequence[LabeledText]) -> "Majority":
        assert examples, "no example to count"
        return cls(Counter(example.label for example in examples))

    def predict(self, texts: Sequence[str]) -> list[str]:
        return [self.label] * len(texts)

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """For each text (N) and label (L)."""
        return np.tile(self.probability_L, (len(texts), 1))
