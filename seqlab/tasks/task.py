"""What every task is: how its data is opened, its model built, a batch made and a part scored.

text.py has what tasks on a running text share, examples.py what those on labelled examples do.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, Scores, State
from seqlab.metrics.metric import Metric
from seqlab.models.model import Model
from seqlab.tasks.dataset import Dataset, Log
from seqlab.tokenization.vocabulary import Vocabulary

MetricValues = dict[str, float]
Units = tuple[np.ndarray, np.ndarray]  # sums_UK and tokens_U


@dataclass(frozen=True)
class BaselineScore:
    """What needs no training reaches on a part; its sums are of the same units, None where that cannot be said."""

    name: str
    about: str
    metrics: MetricValues
    value: float
    sums_UK: np.ndarray | None


class Task(ABC):
    """A task on the parts of one corpus."""

    kind: ClassVar[str]  # what its models are called
    modes: ClassVar[tuple[str, ...]]  # the ways in which a part can be scored, the usual one first
    generates: ClassVar[bool] = False  # whether its models continue a text
    headline: str  # the figure that a run is listed by
    metric: Metric
    settings: Any
    splits: Mapping[str, Any]

    # --- before there is a task ---------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def open(
        cls,
        settings: RunSettings,
        log: Log,
        vocabulary: Vocabulary | None = None,
        kept: Path | None = None,
        expected: str | None = None,
    ) -> Dataset:
        """The data in parts; its symbols are learnt from the training part unless they are given.

        ChangedData, before anything is encoded, where its fingerprint is not the expected one."""

    @classmethod
    @abstractmethod
    def open_whole(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> Dataset:
        """Other data of the same kind as one part, `whole`, to be scored."""

    @classmethod
    def fitted(cls, settings: RunSettings, dataset: Dataset, log: Log) -> RunSettings:
        """Sizes that fit the data, said aloud where they are not those that were asked for."""
        return settings

    @classmethod
    @abstractmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Model:
        """An untrained model."""

    @classmethod
    def use(cls, run: str) -> tuple[str, str]:
        """How a run of it is used: a command line and a call of `run`."""
        return f'seqlab predict {run} "Some text"\n', 'run.predict(["Some text"])'

    @classmethod
    @abstractmethod
    def on(cls, settings: RunSettings, dataset: Dataset) -> Self: ...

    # --- training -----------------------------------------------------------------------------------------------------

    @property
    def signature(self) -> str | None:
        """How its metric was counted, where a library says so."""
        return None

    @property
    @abstractmethod
    def epoch(self) -> int:
        """Batches in one pass over the training part."""

    @abstractmethod
    def batch(self, split: str, seed: int, index: int) -> Batch:
        """A pure function of its arguments."""

    @abstractmethod
    def loss(self, model: Any, batch: Any, carry: State | None, step: int) -> Loss: ...

    # --- scoring ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def validate(self, model: Any, limit: int) -> Scores:
        """What an evaluation during training looks at: about the first `limit` tokens of the validation part."""

    @abstractmethod
    def score(self, model: Any, split: str, mode: str | None = None, limit: int | None = None) -> Scores:
        """Every unit of a part exactly once; with a `limit`, only about that many tokens from its beginning."""

    @abstractmethod
    def units(self, scores: Any) -> Units:
        """The sums of the metric and the tokens, of each unit that noise is estimated from."""

    @abstractmethod
    def metrics(self, scores: Any) -> MetricValues:
        """What people read, by name; the headline is among them."""

    @abstractmethod
    def score_baselines(self, dataset: Dataset, part: str, units: Units) -> list[BaselineScore]:
        """What needs no training, on the given units of a part."""
