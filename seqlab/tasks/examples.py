"""What tasks on labelled examples share: their data as ids, batches, and the sums that scoring finds."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from seqlab.config import CorpusSettings, RunSettings
from seqlab.contracts import Scores
from seqlab.data.examples.encoded import Buckets, ExampleSplit, in_order
from seqlab.data.examples.example import Examples
from seqlab.data.examples.load import open_examples, open_whole
from seqlab.errors import DataError, SeqlabWarning
from seqlab.registry import TOKENIZERS
from seqlab.tasks.dataset import Dataset, DatasetChanged, ExampleDataset, Log, characters_of
from seqlab.tasks.example_settings import ExampleSettings
from seqlab.tasks.predictions import Prediction
from seqlab.tasks.task import BaselineScore, MetricValues, Task, Units
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

SCORED_AT_ONCE = 8_000  # tokens of one forward pass when scoring, padding included
MOST_ROWS = 256


@dataclass(frozen=True)
class ExampleScores(Scores):
    """Of examples, each of which is a unit; `sums_UK` are those of the metric."""

    sums_UK: np.ndarray
    shown: MetricValues  # by name, as people read them
    chosen_by: float | None = None  # where not the loss decides which weights are best

    @property
    def criterion(self) -> float:
        return self.loss if self.chosen_by is None else self.chosen_by


class ExampleTask(Task):
    """Labels, tags or targets for texts. Units of noise are examples."""

    name: ClassVar[str]
    modes = ("example",)
    settings: ExampleSettings
    splits: Mapping[str, ExampleSplit]

    def __init__(self, settings: ExampleSettings, splits: Mapping[str, ExampleSplit], vocabulary: Vocabulary):
        self.settings, self.splits, self.vocabulary = settings, splits, vocabulary
        self._buckets = {
            name: Buckets(part, settings.batch_size, settings.batch_tokens, settings.max_length)
            for name, part in splits.items()
        }

    # --- data ---------------------------------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        settings: RunSettings,
        log: Log,
        vocabulary: Vocabulary | None = None,
        kept: Path | None = None,
        expected: str | None = None,
    ) -> ExampleDataset:
        found = open_examples(cls.name, settings.corpus)
        if expected not in (None, found.fingerprint):
            raise DatasetChanged(characters_of(found))
        for note in found.notes:
            log(note)
        dataset = cls._dataset(found, settings, vocabulary or cls.learn(found.splits["train"], settings))
        cls._refuse_too_long(dataset.splits["train"], settings, log)
        return dataset

    @classmethod
    def open_whole(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> ExampleDataset:
        own = settings.corpus
        columns = own.columns if Path(source[0]).suffix == Path(own.source[0]).suffix else None
        corpus = CorpusSettings(source=source, columns=columns)
        found = open_whole(cls.name, corpus, vocabulary.labels)
        for note in found.notes:
            warnings.warn(note, SeqlabWarning, stacklevel=2)
        return cls._dataset(found, settings, vocabulary)

    @classmethod
    def _dataset(cls, found: Examples, settings: RunSettings, vocabulary: Vocabulary) -> ExampleDataset:
        splits = {name: cls.encode(examples, vocabulary, settings) for name, examples in found.splits.items()}
        return Dataset(found.name, found.about, found.fingerprint, found, vocabulary, splits)

    @classmethod
    def _refuse_too_long(cls, train: ExampleSplit, settings: RunSettings, log: Log) -> None:
        own = settings.task.settings_as(ExampleSettings)
        fit = len(Buckets(train, 1, None, own.max_length).kept_N)
        if not fit:
            raise DataError(f"every training example has more than {own.max_length} tokens: raise task.max_length.")
        if fit < len(train):
            log(f"{len(train) - fit:,} training examples have more than {own.max_length} tokens and are left out")

    @classmethod
    @abstractmethod
    def learn(cls, examples: Sequence[Any], settings: RunSettings) -> Vocabulary:
        """The symbols of the training examples."""

    @classmethod
    @abstractmethod
    def encode(cls, examples: Sequence[Any], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        """Examples as ids; what the lexicon does not know reads as unknown."""

    @classmethod
    def on(cls, settings: RunSettings, dataset: ExampleDataset) -> Self:
        own = settings.task.settings_as(ExampleSettings)
        return cls(own, dataset.splits, dataset.vocabulary)

    @property
    def epoch(self) -> int:
        return self._buckets["train"].epoch

    @classmethod
    @abstractmethod
    def predict(
        cls, model: Any, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings, **how: Any
    ) -> Sequence[Prediction]:
        """What the model says of these texts, in their order."""

    # --- scoring ------------------------------------------------------------------------------------------------------

    def validate(self, model: Any, limit: int) -> ExampleScores:
        return self.score(model, "validation", limit=limit)

    @abstractmethod
    def score(self, model: Any, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores: ...

    @abstractmethod
    def nats(self, model: Any, part: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        """Of each of these examples, run together."""

    def units(self, scores: ExampleScores) -> Units:
        return scores.sums_UK, scores.tokens_U

    def metrics(self, scores: ExampleScores) -> MetricValues:
        return scores.shown

    @abstractmethod
    def score_baselines(self, dataset: ExampleDataset, part: str, units: Units) -> list[BaselineScore]: ...

    def baseline(self, name: str, about: str, sums_UK: np.ndarray, **more: float) -> BaselineScore:
        value = float(self.metric.value(sums_UK.sum(0)))
        return BaselineScore(name, about, {self.headline: value, **more}, value, sums_UK)


def within(part: ExampleSplit, limit: int | None) -> int:
    """How many examples from the beginning hold about `limit` tokens."""
    if limit is None:
        return len(part)
    return min(len(part), int(np.searchsorted(np.cumsum(part.lengths_N), limit)) + 1)


def passes(part: ExampleSplit, count: int) -> list[np.ndarray]:
    """The first `count` examples in the batches in which they are scored."""
    longest_N = np.maximum([len(ids) for ids in part.inputs], part.target_lengths_N)
    return in_order(longest_N[:count], SCORED_AT_ONCE, MOST_ROWS)


def learn_text(texts: Iterable[str], settings: RunSettings, documents: bool = False) -> Tokenizer:
    return TOKENIZERS.load(settings.tokenizer.name).train(map(spaced, texts), settings.tokenizer.settings, documents)


def spaced(text: str) -> str:
    """With a space before it, so that a word is the same symbol at the beginning as later on."""
    return f" {text}"


def encode_all(tokenizer: Tokenizer, texts: Iterable[str], spaces: bool = True) -> list[np.ndarray]:
    """Ids of every text. How much is unknown is told as a share, not word by word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)
        return [tokenizer.encode_array(spaced(text) if spaces else text).astype(np.int64) for text in texts]


def tensor(array: np.ndarray | None) -> Any:
    return None if array is None else torch.from_numpy(array)
