"""The contract of a task: how it opens its data, builds its model, makes a batch and scores a split.

A task also declares how its results are presented: its metrics, the wording of a result, and the baselines beside it.
text.py has what tasks on running text share, examples.py what tasks on labeled examples share.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from seqlab.baselines.role import BaselineRole
from seqlab.config import CorpusSettings, RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, Scores, State
from seqlab.data.content_notes import content_notes
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.examples.example import Examples
from seqlab.data.text.split import SplitText
from seqlab.distributed.rows import batch_rows
from seqlab.distributed.world import RowSpan
from seqlab.errors import UsageError
from seqlab.metrics.metric import Metric
from seqlab.models.model import Model
from seqlab.tasks.as_read import reading_notes
from seqlab.tasks.changed import changed_notes
from seqlab.tasks.dataset import AnyDataset, Log
from seqlab.tasks.split_marks import split_mark_notes
from seqlab.tokenization.vocabulary import Vocabulary

MetricValues = dict[str, float]  # by the key of the metric


@dataclass(frozen=True)
class UnitSums:
    """Held-out data in units, in their order: the sums of the metric (U, K), and the tokens of each unit."""

    sums_UK: np.ndarray
    tokens_U: np.ndarray


@dataclass(frozen=True)
class BaselineScore:
    """The score of a predictor that needs no training, on the same units as the models.

    `sums_UK` is None for a baseline that has no score by unit."""

    name: str
    about: str
    role: BaselineRole
    metrics: MetricValues
    value: float
    sums_UK: np.ndarray | None
    carried: MetricValues | None = None  # metrics if it reads on through the text, where models can too


class Task(ABC):
    """A task on the splits of one dataset."""

    model_kind: ClassVar[str]  # what its models are called, such as "language model"
    # "module:Class" of inspection/reading.py: how its models read a text; without, `seqlab inspect` cannot show them
    reading: ClassVar[str | None] = None
    modes: ClassVar[
        tuple[str, ...]
    ]  # how a split can be scored; the first one is the default, unless a setting names it
    command: ClassVar[str | None] = None  # that uses its models, such as "predict"
    generates: ClassVar[bool] = False  # whether its models continue a text
    loss_unit: ClassVar[str] = "nats per token"
    unit: ClassVar[str] = "token"  # what `Loss.count` counts
    metric: Metric  # models are compared by it
    headline_metric: Metric  # a run is listed by it
    reported_metrics: Sequence[str]  # keys of the metrics that a comparison shows beside `metric`, in their order
    wordings: ClassVar[Mapping[str, str]] = {}  # a result in words by the key of the headline metric, without a period

    def __init__(self, settings: Any, splits: Mapping[str, Any], vocabulary: Vocabulary):
        self.settings: Any = settings
        self.splits = splits
        self.vocabulary = vocabulary
        self._batches = {name: self.make_batches(split) for name, split in splits.items()}

    # --- before there is a task ---------------------------------------------------------------------------------------

    @classmethod
    def open_dataset(cls, settings: RunSettings, log: Log, vocabulary: Vocabulary | None = None) -> AnyDataset:
        """The data in splits; without a vocabulary, one is built from the training split."""
        data = cls.read(settings)
        if isinstance(data, LargeText):
            data = replace(data, log=log)  # encoding it takes long
        for note in (*data.notes, *content_notes(data)):
            log(note)
        dataset = cls.encode_splits(data, settings, vocabulary)
        changed = changed_notes(dataset.data, dataset.vocabulary)
        changed += split_mark_notes(dataset.data, dataset.vocabulary.tokenizer)
        for note in (*reading_notes(dataset.splits, dataset.vocabulary, own=vocabulary is None), *changed):
            log(note)
        return dataset

    @classmethod
    @abstractmethod
    def read(cls, settings: RunSettings, stdin_copy: Path | None = None) -> SplitText | Examples:
        """The data in splits, not encoded yet; `stdin_copy` is where a run has saved its standard input."""

    @classmethod
    @abstractmethod
    def encode_splits(cls, data: Any, settings: RunSettings, vocabulary: Vocabulary | None = None) -> AnyDataset:
        """What `read` returned, encoded; without a vocabulary, one is built from the training split."""

    @classmethod
    @abstractmethod
    def open_unsplit(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> AnyDataset:
        """Other data of the same kind as one split, `whole`, to be scored."""

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: AnyDataset, log: Log) -> RunSettings:
        """The settings with sizes that fit the data; logs what changes or is left out."""
        return settings

    @classmethod
    @abstractmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Model:
        """An untrained model."""

    @classmethod
    def first_weights(
        cls, model: Model, settings: RunSettings, dataset: AnyDataset, source: Model | None
    ) -> dict[str, Tensor]:
        """The weights that a new model does not draw at random, by name: those of `source`, the model of --init."""
        weights = {} if source is None else {name: weight.detach() for name, weight in source.named_parameters()}
        shapes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
        if weights and {name: tuple(weight.shape) for name, weight in weights.items()} != shapes:
            raise UsageError(
                f"the weights of --init are not those of a {cls.model_kind} for this data: start from a run of the "
                f"same task and settings."
            )
        return weights

    @classmethod
    def from_dataset(cls, settings: RunSettings, dataset: AnyDataset) -> Self:
        return cls(settings.task.settings, dataset.splits, dataset.vocabulary)

    def prepare(self, log: Log) -> Mapping[str, Any]:
        """What is found out before the first step, and said; by the name of the JSON file of the run that keeps it."""
        return {}

    def complete(self, model: Any, log: Log) -> Mapping[str, Mapping[str, Tensor]]:
        """What is added to a model after its training, and said; by the name of the safetensors file that keeps it.

        `model` has the best weights, and gets what is added."""
        return {}

    # --- training -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def make_batches(self, split: Any) -> Any:
        """The batches of a split: an object with `rows(seed, index)` and `batches_per_epoch`."""

    @property
    def steps_per_epoch(self) -> float:
        """Batches in one pass over the training split; random windows need not make a whole number."""
        return self._batches["train"].batches_per_epoch

    @abstractmethod
    def batch(self, split: str, seed: int, index: int) -> Batch:
        """A pure function of its arguments."""

    @abstractmethod
    def loss(self, model: Any, batch: Any, carry: State | None, step: int) -> Loss:
        """The summed loss of a batch, with `carry` as the state before it and `step` for schedules."""

    def loss_of_rows(self, model: Any, batch: Any, rows: RowSpan, carry: State | None, step: int) -> Loss:
        """What some rows add to `loss`: the sum over all parts of a batch is the loss of the batch, and so are the
        gradients. By default rows are independent of each other, and `carry` has the states of these rows."""
        if not len(rows):
            return Loss(torch.zeros((), requires_grad=True), 0)
        with batch_rows(rows):
            return self.loss(model, batch.part(rows.slice), carry, step)

    # --- scoring ------------------------------------------------------------------------------------------------------

    @property
    def mode(self) -> str:
        """How a split is scored unless asked otherwise."""
        return self.modes[0]

    def validate(self, model: Any, limit: int) -> Scores:
        """The scores of an evaluation during training: about the first `limit` tokens of the validation split."""
        return self.score(model, "validation", limit=limit)

    @abstractmethod
    def score(self, model: Any, split: str, mode: str | None = None, limit: int | None = None) -> Scores:
        """Every unit of a split exactly once; with a `limit`, only about that many tokens from its beginning."""

    def notes_on(self, split: str, name: str, mode: str) -> list[str]:
        """What is said of a split that is scored in a mode, under this name."""
        return reading_notes({name: self.splits[split]}, self.vocabulary)

    @abstractmethod
    def unit_sums(self, scores: Any) -> UnitSums:
        """The sums of the metric by unit: what intervals and verdicts are computed from."""

    @abstractmethod
    def metrics(self, scores: Any) -> MetricValues:
        """All metrics of these scores, in the order of tables; the headline metric is among them."""

    @abstractmethod
    def score_baselines(self, dataset: AnyDataset, split: str, units: UnitSums) -> list[BaselineScore]:
        """The baselines on the given units of a split."""

    # --- presentation -------------------------------------------------------------------------------------------------

    @property
    def signature(self) -> str | None:
        """How the metric was computed, if a library defines it."""
        return None

    @classmethod
    def usage(cls, run: str) -> tuple[str, str]:
        """How to use a run: a command line, and a call of `run` in Python."""
        return f'seqlab predict {run} "Some text"\n', 'run.predict(["Some text"])'

    @classmethod
    def usage_on(cls, run: str, corpus: CorpusSettings) -> str:
        """The command line of `usage`, on the data that the run was trained on if the command reads files."""
        return cls.usage(run)[0]

    def brief(self, metrics: Mapping[str, float]) -> str:
        """The headline metric as one number of a sentence."""
        return f"{metrics[self.headline_metric.key]:.1f}"

    def wording(self, metrics: Mapping[str, float]) -> str:
        """A result in words, without a period."""
        metric = self.headline_metric
        if metric.key in self.wordings:
            return self.wordings[metric.key].format(**metrics)
        return f"{metric.label} {metric.format(metrics[metric.key])}"

    def result_sentence(
        self, metrics: Mapping[str, float], baseline: tuple[str, Mapping[str, float]] | None = None
    ) -> str:
        """A result in words, beside the name and the metrics of the main baseline."""
        return self.wording(metrics) + (f"; {baseline[0]}: {self.brief(baseline[1])}" if baseline else "")
