"""Naive Bayes on words and pairs of words: what counting knows of a text's label.

    p(label | text) ~ p(label) x product over the text's grams of p(gram | label)

p(gram | label) is the gram's share among the label's grams, each counted once more than it was seen. Grams that
training did not have are passed over. E: the grams of all texts, end to end; G: different grams; N: texts; L: labels.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from seqlab.data.examples.example import LabeledText

WORDS = re.compile(r"\w+|[^\w\s]")  # words, and every other mark by itself
HELD_OUT = 0.1  # of the training examples, on which it is chosen how to count
SEED = 0  # of the order in which examples are read: files may be sorted by label
FIT_GRAMS = 20_000_000  # with more than these, no further examples are read


def grams(text: str) -> list[str]:
    """Lower-cased words and pairs of neighbours: "So good!" to "so", "good", "!", "so good", "good !"."""
    words = WORDS.findall(text.lower())
    return words + [f"{first} {second}" for first, second in pairwise(words)]


@dataclass(frozen=True)
class Reading:
    """Which text each gram is in, and the gram's id."""

    text_E: np.ndarray
    id_E: np.ndarray
    texts: int

    @classmethod
    def of(cls, ids_by_text: Iterable[list[int]]) -> "Reading":
        rows = [np.array(ids, np.int64) for ids in ids_by_text]
        text_E = np.repeat(np.arange(len(rows)), np.array([len(row) for row in rows], int))
        return cls(text_E, np.concatenate([np.zeros(0, np.int64), *rows]), len(rows))

    def part(self, first: int, end: int) -> "Reading":
        """Of the texts from `first` on and before `end`."""
        kept_E = (self.text_E >= first) & (self.text_E < end)
        return Reading(self.text_E[kept_E] - first, self.id_E[kept_E], end - first)

    def once(self) -> "Reading":
        """Every gram of a text counts once, however often the text has it."""
        width = int(self.id_E.max(initial=0)) + 1
        keys_E = np.sort(self.text_E * width + self.id_E)  # `unique` would hash them, which is far slower
        text_E, id_E = np.divmod(keys_E[np.diff(keys_E, prepend=-1) > 0], width)
        return Reading(text_E, id_E, self.texts)


@dataclass(frozen=True)
class Weights:
    """Logs of the labels' probabilities and of the grams' under each label."""

    prior_L: np.ndarray
    gram_GL: np.ndarray

    @classmethod
    def count(cls, reading: Reading, label_N: np.ndarray, labels: int) -> "Weights":
        counts_GL = np.ones((int(reading.id_E.max(initial=-1)) + 1, labels))
        np.add.at(counts_GL, (reading.id_E, label_N[reading.text_E]), 1)
        with np.errstate(divide="ignore"):  # a label of which there is no example is never predicted
            prior_L = np.log(np.bincount(label_N, minlength=labels) / len(label_N))
        return cls(prior_L, np.log(counts_GL / counts_GL.sum(0)))

    def score(self, reading: Reading) -> np.ndarray:
        """ln p of each text (N) together with each label (L)."""
        known_E = reading.id_E < len(self.gram_GL)
        text_E, id_E = reading.text_E[known_E], reading.id_E[known_E]
        by_label = [np.bincount(text_E, gram_G[id_E], reading.texts) for gram_G in self.gram_GL.T]
        return self.prior_L + np.stack(by_label, axis=1)


class NaiveBayes:
    """`labels` are in alphabetical order; `once` is whether a gram counts once per text or as often as it is there."""

    def __init__(self, ids: dict[str, int], labels: tuple[str, ...], weights: Weights, once: bool, about: str):
        self.labels, self.once, self.about = labels, once, about
        self._ids, self._weights = ids, weights

    @classmethod
    def fit(cls, examples: Sequence[LabeledText]) -> "NaiveBayes":
        assert examples, "there is at least one example to count"
        order = np.random.default_rng(SEED).permutation(len(examples))
        labels = tuple(sorted({example.label for example in examples}))
        ids: dict[str, int] = {}
        reading = Reading.of(_numbered((examples[i].text for i in order), ids))
        places = {label: place for place, label in enumerate(labels)}
        label_N = np.array([places[examples[i].label] for i in order[: reading.texts]])

        often, once = _held_out_accuracies(reading, label_N, len(labels))
        weights = Weights.count(reading.once() if once > often else reading, label_N, len(labels))
        about = "naive Bayes on words and pairs of words, each counted "
        about += "once per text" if once > often else "as often as it is there"
        if not math.isnan(once):
            about += f" (a tenth of the training examples: {max(once, often):.2f} %, else {min(once, often):.2f} %)"
        if reading.texts < len(examples):
            about += f"; {reading.texts:,} training examples drawn at random"
        return cls(ids, labels, weights, once > often, about)

    def predict(self, texts: Sequence[str]) -> list[str]:
        return [self.labels[place] for place in self.log_probabilities(texts).argmax(1)]

    def log_probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """ln p of each text's (N) labels (L)."""
        reading = Reading.of([self._ids[gram] for gram in grams(text) if gram in self._ids] for text in texts)
        score_NL = self._weights.score(reading.once() if self.once else reading)
        return score_NL - logsumexp(score_NL, axis=1, keepdims=True)


def _numbered(texts: Iterable[str], ids: dict[str, int]) -> Iterator[list[int]]:
    """The ids of each text's grams; new grams get the next ones."""
    read = 0
    for text in texts:
        if read > FIT_GRAMS:
            return
        found = [ids.setdefault(gram, len(ids)) for gram in grams(text)]
        read += len(found)
        yield found


def _held_out_accuracies(reading: Reading, label_N: np.ndarray, labels: int) -> tuple[float, float]:
    """In percent, with grams counted as often as they are there, and once per text; not a number of too few texts."""
    middle = reading.texts - int(HELD_OUT * reading.texts)
    if middle == reading.texts:
        return math.nan, math.nan
    found: list[float] = []
    for counted in (reading, reading.once()):
        # ids were given in the order of reading, so that later ones are those that the first texts do not have
        weights = Weights.count(counted.part(0, middle), label_N[:middle], labels)
        score_NL = weights.score(counted.part(middle, reading.texts))
        found.append(100 * float((score_NL.argmax(1) == label_N[middle:]).mean()))
    return found[0], found[1]
