"""Naive Bayes on words and word pairs.

    p(label | text) ~ p(label) x product over the text's grams of p(gram | label)

p(gram | label) is the gram's share among the label's grams, with add-one smoothing. Unknown grams are skipped.
E: the grams of all texts, end to end; G: distinct grams; N: texts; L: labels.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from seqlab.data.examples.example import LabeledText

WORDS = re.compile(r"\w+|[^\w\s]")  # words, and every other character by itself
HELD_OUT = 0.1  # of the training examples, to choose how grams are counted
SEED = 0  # of the order of the examples: files may be sorted by label
MAX_GRAMS = 20_000_000  # no further examples are read beyond these


def grams(text: str) -> list[str]:
    """Lowercased words and pairs of neighbors: "So good!" to "so", "good", "!", "so good", "good !"."""
    words = WORDS.findall(text.lower())
    return words + [f"{first} {second}" for first, second in pairwise(words)]


@dataclass(frozen=True)
class TextGrams:
    """The text and the id of each gram."""

    text_E: np.ndarray
    id_E: np.ndarray
    texts: int

    @classmethod
    def from_ids(cls, ids_by_text: Iterable[list[int]]) -> "TextGrams":
        rows = [np.array(ids, np.int64) for ids in ids_by_text]
        text_E = np.repeat(np.arange(len(rows)), np.array([len(row) for row in rows], int))
        return cls(text_E, np.concatenate([np.zeros(0, np.int64), *rows]), len(rows))

    def slice(self, first: int, end: int) -> "TextGrams":
        """The grams of the texts from `first` up to `end`."""
        inside_E = (self.text_E >= first) & (self.text_E < end)
        return TextGrams(self.text_E[inside_E] - first, self.id_E[inside_E], end - first)

    def distinct(self) -> "TextGrams":
        """Every gram once per text."""
        width = int(self.id_E.max(initial=0)) + 1
        keys_E = np.sort(self.text_E * width + self.id_E)  # `unique` would hash them, which is far slower
        text_E, id_E = np.divmod(keys_E[np.diff(keys_E, prepend=-1) > 0], width)
        return TextGrams(text_E, id_E, self.texts)


@dataclass(frozen=True)
class Weights:
    """Log-probabilities of the labels, and of the grams given each label."""

    prior_L: np.ndarray
    gram_GL: np.ndarray

    @classmethod
    def count(cls, text_grams: TextGrams, label_N: np.ndarray, labels: int) -> "Weights":
        counts_GL = np.ones((int(text_grams.id_E.max(initial=-1)) + 1, labels))
        np.add.at(counts_GL, (text_grams.id_E, label_N[text_grams.text_E]), 1)
        with np.errstate(divide="ignore"):  # a label without examples is never predicted
            prior_L = np.log(np.bincount(label_N, minlength=labels) / len(label_N))
        return cls(prior_L, np.log(counts_GL / counts_GL.sum(0)))

    def score(self, text_grams: TextGrams) -> np.ndarray:
        """ln p(text, label) for each text (N) and label (L)."""
        known_E = text_grams.id_E < len(self.gram_GL)
        text_E, id_E = text_grams.text_E[known_E], text_grams.id_E[known_E]
        by_label = [np.bincount(text_E, gram_G[id_E], text_grams.texts) for gram_G in self.gram_GL.T]
        return self.prior_L + np.stack(by_label, axis=1)


class NaiveBayes:
    """`labels` are in alphabetical order; `once` says whether a gram counts only once per text."""

    def __init__(self, ids: dict[str, int], labels: tuple[str, ...], weights: Weights, once: bool, about: str):
        self.labels, self.once, self.about = labels, once, about
        self._ids, self._weights = ids, weights

    @classmethod
    def fit(cls, examples: Sequence[LabeledText]) -> "NaiveBayes":
        assert examples, "no example to count"
        order = np.random.default_rng(SEED).permutation(len(examples))
        labels = tuple(sorted({example.label for example in examples}))
        ids: dict[str, int] = {}
        text_grams = TextGrams.from_ids(_gram_ids((examples[i].text for i in order), ids))
        places = {label: place for place, label in enumerate(labels)}
        label_N = np.array([places[examples[i].label] for i in order[: text_grams.texts]])

        often, once = _held_out_accuracies(text_grams, label_N, len(labels))
        weights = Weights.count(text_grams.distinct() if once > often else text_grams, label_N, len(labels))
        about = "naive Bayes on words and word pairs, each counted "
        about += "once per text" if once > often else "every time"
        if not math.isnan(once):
            about += f" (a tenth of the training examples: {max(once, often):.2f}%, else {min(once, often):.2f}%)"
        if text_grams.texts < len(examples):
            about += f"; {text_grams.texts:,} training examples drawn at random"
        return cls(ids, labels, weights, once > often, about)

    def predict(self, examples: Sequence[LabeledText]) -> list[str]:
        logprobs_NL = self.log_probabilities([example.text for example in examples])
        return [self.labels[label] for label in logprobs_NL.argmax(1)]

    def log_probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """ln p(label | text) for each text (N) and label (L)."""
        text_grams = TextGrams.from_ids(
            [self._ids[gram] for gram in grams(text) if gram in self._ids] for text in texts
        )
        score_NL = self._weights.score(text_grams.distinct() if self.once else text_grams)
        return score_NL - logsumexp(score_NL, axis=1, keepdims=True)


def _gram_ids(texts: Iterable[str], ids: dict[str, int]) -> Iterator[list[int]]:
    """The ids of each text's grams; a new gram gets the next id."""
    read = 0
    for text in texts:
        if read > MAX_GRAMS:
            return
        text_ids = [ids.setdefault(gram, len(ids)) for gram in grams(text)]
        read += len(text_ids)
        yield text_ids


def _held_out_accuracies(text_grams: TextGrams, label_N: np.ndarray, labels: int) -> tuple[float, float]:
    """In percent, with grams counted every time and once per text; NaN for too few texts."""
    middle = text_grams.texts - int(HELD_OUT * text_grams.texts)
    if middle == text_grams.texts:
        return math.nan, math.nan
    accuracies: list[float] = []
    for counted in (text_grams, text_grams.distinct()):
        # ids increase in text_grams order, so later texts have larger ids for grams that the first texts lack
        weights = Weights.count(counted.slice(0, middle), label_N[:middle], labels)
        score_NL = weights.score(counted.slice(middle, text_grams.texts))
        accuracies.append(100 * float((score_NL.argmax(1) == label_N[middle:]).mean()))
    return accuracies[0], accuracies[1]
