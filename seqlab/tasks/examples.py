"""What tasks on labeled examples share: their data as ids, batches, scores and baselines."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from seqlab.baselines.role import BaselineRole
from seqlab.config import CorpusSettings, ExampleKind, RunSettings
from seqlab.contracts import Scores
from seqlab.data.examples.checks import GIVEN, few_examples_note, refuse_new_labels
from seqlab.data.examples.encoded import ExampleBatches, ExampleSplit
from seqlab.data.examples.example import Examples
from seqlab.data.examples.groups import AUTO, NONE
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.data.examples.parallel import refuse_swapped
from seqlab.errors import DataError, SeqlabWarning
from seqlab.metrics.example_metric import ExampleMetric, find_metric
from seqlab.registry import TOKENIZERS
from seqlab.tasks.dataset import Dataset, ExampleDataset, Log, warn_of_notes
from seqlab.tasks.example_settings import ExampleSettings
from seqlab.tasks.predictions import Prediction
from seqlab.tasks.task import BaselineScore, MetricValues, Task, UnitSums
from seqlab.tasks.too_long import too_long_notes
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

MAX_READ_TOKENS = 8_192  # of one example that is scored or predicted, unless task.max_length is larger


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
    baselines: ClassVar[Sequence[tuple[str, BaselineRole, Any]]]  # name, role, and a class: `fit`, `predict`, `about`
    command = "predict"
    modes = ("example",)
    settings: ExampleSettings
    splits: Mapping[str, ExampleSplit]

    def __init__(self, settings: ExampleSettings, splits: Mapping[str, ExampleSplit], vocabulary: Vocabulary):
        super().__init__(settings, splits, vocabulary)
        self.example_metric = self._example_metric()
        self.metric = self.headline_metric = self.example_metric.description

    def _example_metric(self) -> ExampleMetric:
        return find_metric(self.settings.metric, self.predicts)

    def make_batches(self, split: ExampleSplit) -> ExampleBatches:
        settings = self.settings
        return ExampleBatches(split, settings.batch_size, settings.batch_tokens, settings.max_length)

    # --- data ---------------------------------------------------------------------------------------------------------

    @classmethod
    def open_dataset(cls, settings: RunSettings, log: Log, vocabulary: Vocabulary | None = None) -> ExampleDataset:
        dataset = super().open_dataset(settings, log, vocabulary)
        if vocabulary is not None and vocabulary.labels:
            refuse_new_labels(dataset.data.splits["train"], vocabulary.labels)
        for note in few_examples_note({name: len(split) for name, split in dataset.splits.items()}):
            log(note)
        return dataset

    @classmethod
    def read(cls, settings: RunSettings, stdin_copy: Path | None = None) -> Examples:
        return open_examples(cls._example_kind(settings), settings.corpus)

    @classmethod
    def encode_splits(
        cls, data: Examples, settings: RunSettings, vocabulary: Vocabulary | None = None
    ) -> ExampleDataset:
        vocabulary = vocabulary or cls.build_vocabulary(data.splits["train"], settings)
        splits = {name: cls.encode(split, vocabulary, settings) for name, split in data.splits.items()}
        return Dataset(data.name, data.about, data.fingerprint, data, vocabulary, splits)

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: ExampleDataset, log: Log) -> RunSettings:
        """The settings as they are; refuses held-out examples that are too long, and training without short ones."""
        train, longest = dataset.splits["train"], settings.task.settings_as(ExampleSettings).max_length
        for name in ("validation", "test"):
            if name in dataset.splits:
                require_readable(dataset.splits[name].longest_N, longest, f"{name} example")
        for note in too_long_notes(train, longest):
            log(note)
        return settings

    @classmethod
    def open_unsplit(
        cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary, columns: Sequence[Any] = ()
    ) -> ExampleDataset:
        """`columns`: those of tables that training read."""
        trained_on = settings.corpus
        named = trained_on.columns if Path(source[0]).suffix == Path(trained_on.source[0]).suffix else None
        splits = NONE if trained_on.split_column == NONE else AUTO
        same = {"groups": trained_on.groups, "skip_limit": trained_on.skip_limit}
        corpus = CorpusSettings(source=source, columns=named, split_column=splits, **same)
        kind = cls._example_kind(settings)
        if kind == "pairs":
            refuse_swapped({"training": trained_on.source, "given": source}, trained_on.columns)
        examples = open_unsplit(kind, corpus, vocabulary.labels, [(first, second) for first, second in columns])
        few = few_examples_note({GIVEN: len(examples.splits["whole"])})
        warn_of_notes(replace(examples, notes=(*examples.notes, *few)))
        return cls.encode_splits(examples, settings, vocabulary)

    @classmethod
    def _example_kind(cls, settings: RunSettings) -> ExampleKind:
        kind = settings.task.settings.examples
        assert kind is not None, f"{type(settings.task.settings).__name__}.examples is not set"
        return kind

    @classmethod
    @abstractmethod
    def build_vocabulary(cls, examples: Sequence[Any], settings: RunSettings) -> Vocabulary:
        """Tokenizers and labels from the training examples."""

    @classmethod
    @abstractmethod
    def encode(cls, examples: Sequence[Any], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        """Examples as ids; tokens and labels outside the vocabulary become unknown."""

    @classmethod
    def can_read(cls, text: Any) -> bool:
        """Whether there is something to predict from: a text that is not blank."""
        return isinstance(text, str) and bool(text.strip())

    @classmethod
    @abstractmethod
    def without_answers(cls, texts: Sequence[Any], vocabulary: Vocabulary) -> list[Any]:
        """Texts that `can_read` accepts as examples that `encode` takes."""

    @classmethod
    @abstractmethod
    def predict(
        cls, model: Any, texts: Sequence[Any], vocabulary: Vocabulary, settings: RunSettings, **options: Any
    ) -> Sequence[Prediction]:
        """The predictions of the model for these texts, which `can_read` accepts, in their order."""

    # --- scoring ------------------------------------------------------------------------------------------------------

    def scored_split(self, name: str) -> ExampleSplit:
        """A split whose examples are all short enough to be scored."""
        require_readable(self.splits[name].longest_N, self.settings.max_length, f"{name} example")
        return self.splits[name]

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
    def compare(self, examples: Sequence[Any], predicted: Sequence[Any]) -> tuple[np.ndarray, MetricValues]:
        """The sums of the metric for each example, and all metrics of these predictions."""

    def score_baselines(self, dataset: ExampleDataset, split: str, units: UnitSums) -> list[BaselineScore]:
        held_out = dataset.data.splits[split][: len(units.sums_UK)]
        train = dataset.splits["train"].up_to(self.settings.max_length).examples  # those that models learn from
        scores = []
        for name, role, baseline in self.baselines:
            model = baseline.fit(train)
            sums_UK, metrics = self.compare(held_out, model.predict(held_out))
            scores.append(BaselineScore(name, model.about, role, metrics, self.value(sums_UK), sums_UK))
        return scores


def train_tokenizer(texts: Iterable[str], settings: RunSettings, documents: bool = False) -> Tokenizer:
    tokenizer = TOKENIZERS.load(settings.tokenizer.name)
    return tokenizer.train(map(with_leading_space, texts), settings.tokenizer.settings, documents)


def with_leading_space(text: str) -> str:
    """A word is then the same token at the beginning of a text as later on."""
    return f" {text}"


def encode_text(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids of one text as examples are read, with a warning of what is unknown."""
    return tokenizer.encode(with_leading_space(text))


def encode_all(tokenizer: Tokenizer, texts: Iterable[str], spaces: bool = True) -> list[np.ndarray]:
    """Ids of every text, without a warning for each unknown word: results report the share of unknown tokens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)
        return [tokenizer.encode_array(with_leading_space(text) if spaces else text).astype(np.int64) for text in texts]


def require_readable(lengths_N: np.ndarray, max_length: int, what: str) -> None:
    """DataError if an example is too long to be read at once; `what` names the examples."""
    limit, at = max(max_length, MAX_READ_TOKENS), int(np.argmax(lengths_N)) if len(lengths_N) else 0
    if len(lengths_N) and lengths_N[at] > limit:
        raise DataError(
            f"{what} {at + 1:,} has {lengths_N[at]:,} tokens: at most {limit:,} are read at once, because attention "
            f"takes memory for every pair of them. Divide it or leave it out; a larger task.max_length allows more."
        )


def pad_rows(rows: Sequence[np.ndarray], fill: int = 0) -> tuple[Tensor, Tensor]:
    """Rows side by side, padded on the right, and their mask."""
    lengths_B = np.array([len(row) for row in rows])
    ids_BT = np.full((len(rows), max(1, int(lengths_B.max()))), fill, dtype=np.int64)
    for row, ids in zip(ids_BT, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(ids_BT), torch.from_numpy(np.arange(ids_BT.shape[1]) < lengths_B[:, None])


def mask_or_none(mask_BT: Tensor) -> Tensor | None:
    """No mask where nothing is padded: models are faster without one."""
    return None if mask_BT.all() else mask_BT
