"""The most frequent label, whatever the text: what a classifier knows before it reads."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from seqlab.data.examples.example import LabeledText


class Majority:
    """One probability per label, in alphabetical order, never zero: every label counts once more than it was seen."""

    def __init__(self, counts: Counter[str]):
        self.labels = tuple(sorted(counts))
        counts_L = np.array([counts[label] for label in self.labels])
        self.label = self.labels[int(counts_L.argmax())]
        self.probability_L = (counts_L + 1) / (counts_L.sum() + len(self.labels))
        self.about = f"the most frequent label of the training examples, {self.label}, for every text"

    @classmethod
    def fit(cls, examples: Sequence[LabeledText]) -> "Majority":
        assert examples, "there is at least one example to count"
        return cls(Counter(example.label for example in examples))

    def predict(self, texts: Sequence[str]) -> list[str]:
        return [self.label] * len(texts)

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Of each text (N) and label (L)."""
        return np.tile(self.probability_L, (len(texts), 1))
