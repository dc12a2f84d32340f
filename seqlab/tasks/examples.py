"""What tasks on labeled examples share: their data as ids, batches, scores and baselines."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch

from seqlab.baselines.role import BaselineRole
from seqlab.config import CorpusSettings, ExampleKind, RunSettings
from seqlab.contracts import Scores
from seqlab.data.examples.encoded import ExampleBatches, ExampleSplit, batch_by_length
from seqlab.data.examples.example import Examples
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.errors import DataError, SeqlabWarning
from seqlab.metrics.example_metric import ExampleMetric, find_metric
from seqlab.registry import TOKENIZERS
from seqlab.tasks.dataset import Dataset, DatasetChanged, ExampleDataset, Log, characters_of
from seqlab.tasks.example_settings import ExampleSettings
from seqlab.tasks.predictions import Prediction
from seqlab.tasks.task import BaselineScore, MetricValues, Task, UnitSums
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

SCORED_AT_ONCE = 8_000  # tokens of one forward pass when scoring, padding included
MOST_ROWS = 256


@dataclass(frozen=True)
class ExampleScores(Scores):
    """The scores of examples, each of which is a unit; `sums_UK` are those of the metric."""

    sums_UK: np.ndarray
    metrics: MetricValues
    selection: float | None = None  # what checkpoints are chosen by, the lower the better; None: the loss

    @property
    def criterion(self) -> float:
        return self.loss if self.selection is None else self.selection


class ExampleTask(Task):
    """Labels, tags or target texts for input texts."""

    name: ClassVar[str]
    predicts: ClassVar[str]  # what its metrics compare: labels, tags or texts
    modes = ("example",)
    settings: ExampleSettings
    splits: Mapping[str, ExampleSplit]

    def __init__(self, settings: ExampleSettings, splits: Mapping[str, ExampleSplit], vocabulary: Vocabulary):
        self.settings, self.splits, self.vocabulary = settings, splits, vocabulary
        self._buckets = {
            name: ExampleBatches(split, settings.batch_size, settings.batch_tokens, settings.max_length)
            for name, split in splits.items()
        }
        self.example_metric = self._example_metric()
        self.metric = self.headline_metric = self.example_metric.description

    def _example_metric(self) -> ExampleMetric:
        return find_metric(self.settings.metric, self.predicts)

    # --- data ---------------------------------------------------------------------------------------------------------

    @classmethod
    def open_dataset(
        cls,
        settings: RunSettings,
        log: Log,
        vocabulary: Vocabulary | None = None,
        kept: Path | None = None,
        expected: str | None = None,
    ) -> ExampleDataset:
        examples = open_examples(cls._example_kind(settings), settings.corpus)
        if expected not in (None, examples.fingerprint):
            raise DatasetChanged(characters_of(examples))
        for note in examples.notes:
            log(note)
        vocabulary = vocabulary or cls.build_vocabulary(examples.splits["train"], settings)
        dataset = cls._dataset(examples, settings, vocabulary)
        cls._refuse_too_long(dataset.splits["train"], settings, log)
        return dataset

    @classmethod
    def open_unsplit(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> ExampleDataset:
        trained_on = settings.corpus
        columns = trained_on.columns if Path(source[0]).suffix == Path(trained_on.source[0]).suffix else None
        corpus = CorpusSettings(source=source, columns=columns)
        examples = open_unsplit(cls._example_kind(settings), corpus, vocabulary.labels)
        for note in examples.notes:
            warnings.warn(note, SeqlabWarning, stacklevel=2)
        return cls._dataset(examples, settings, vocabulary)

    @classmethod
    def _example_kind(cls, settings: RunSettings) -> ExampleKind:
        kind = settings.task.settings.examples
        assert kind is not None, f"{type(settings.task.settings).__name__}.examples is not set"
        return kind

    @classmethod
    def _dataset(cls, examples: Examples, settings: RunSettings, vocabulary: Vocabulary) -> ExampleDataset:
        splits = {name: cls.encode(split, vocabulary, settings) for name, split in examples.splits.items()}
        return Dataset(examples.name, examples.about, examples.fingerprint, examples, vocabulary, splits)

    @classmethod
    def _refuse_too_long(cls, train: ExampleSplit, settings: RunSettings, log: Log) -> None:
        task = settings.task.settings_as(ExampleSettings)
        fit = len(ExampleBatches(train, 1, None, task.max_length).included_N)
        if not fit:
            raise DataError(f"every training example has more than {task.max_length} tokens: raise task.max_length.")
        if fit < len(train):
            log(f"leaving out {len(train) - fit:,} training examples of more than {task.max_length} tokens")

    @classmethod
    @abstractmethod
    def build_vocabulary(cls, examples: Sequence[Any], settings: RunSettings) -> Vocabulary:
        """Tokenizers and labels from the training examples."""

    @classmethod
    @abstractmethod
    def encode(cls, examples: Sequence[Any], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        """Examples as ids; tokens and labels outside the vocabulary become unknown."""

    @classmethod
    def from_dataset(cls, settings: RunSettings, dataset: ExampleDataset) -> Self:
        task = settings.task.settings_as(ExampleSettings)
        return cls(task, dataset.splits, dataset.vocabulary)

    @property
    def steps_per_epoch(self) -> int:
        return self._buckets["train"].batches_per_epoch

    @classmethod
    @abstractmethod
    def predict(
        cls, model: Any, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings, **options: Any
    ) -> Sequence[Prediction]:
        """The predictions of the model for these texts, in their order."""

    # --- scoring ------------------------------------------------------------------------------------------------------

    def validate(self, model: Any, limit: int) -> ExampleScores:
        return self.score(model, "validation", limit=limit)

    @abstractmethod
    def score(self, model: Any, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores: ...

    @abstractmethod
    def nats(self, model: Any, split: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        """The summed loss of each of these examples, run as one batch."""

    def unit_sums(self, scores: ExampleScores) -> UnitSums:
        return UnitSums(scores.sums_UK, scores.tokens_U)

    def metrics(self, scores: ExampleScores) -> MetricValues:
        return scores.metrics

    def value(self, sums_UK: np.ndarray) -> float:
        return float(self.metric.value(sums_UK.sum(0)))

    @abstractmethod
    def score_baselines(self, dataset: ExampleDataset, split: str, units: UnitSums) -> list[BaselineScore]: ...

    def baseline(
        self, name: str, about: str, role: BaselineRole, sums_UK: np.ndarray, further: MetricValues
    ) -> BaselineScore:
        value = self.value(sums_UK)
        return BaselineScore(name, about, role, {self.metric.key: value, **further}, value, sums_UK)


def count_within(split: ExampleSplit, limit: int | None) -> int:
    """How many examples from the beginning hold about `limit` tokens."""
    if limit is None:
        return len(split)
    return min(len(split), int(np.searchsorted(np.cumsum(split.lengths_N), limit)) + 1)


def scoring_batches(split: ExampleSplit, count: int) -> list[np.ndarray]:
    """The rows of the first `count` examples, in batches of similar length."""
    longest_N = np.maximum([len(ids) for ids in split.inputs], split.target_lengths_N)
    return batch_by_length(longest_N[:count], SCORED_AT_ONCE, MOST_ROWS)


def train_tokenizer(texts: Iterable[str], settings: RunSettings, documents: bool = False) -> Tokenizer:
    tokenizer = TOKENIZERS.load(settings.tokenizer.name)
    return tokenizer.train(map(with_leading_space, texts), settings.tokenizer.settings, documents)


def with_leading_space(text: str) -> str:
    """A word is then the same token at the beginning of a text as later on."""
    return f" {text}"


def encode_all(tokenizer: Tokenizer, texts: Iterable[str], spaces: bool = True) -> list[np.ndarray]:
    """Ids of every text, without a warning for each unknown word: results report the share of unknown tokens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)
        return [tokenizer.encode_array(with_leading_space(text) if spaces else text).astype(np.int64) for text in texts]


def to_tensor(array: np.ndarray | None) -> Any:
    return None if array is None else torch.from_numpy(array)
