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
from seqlab.data.encoded import Buckets, ExamplePart, in_order
from seqlab.data.examples import Examples
from seqlab.data.opening import open_examples, open_whole
from seqlab.errors import DataError, SeqlabWarning
from seqlab.registry import TOKENIZERS
from seqlab.tasks.example_settings import ExampleSettings
from seqlab.tasks.material import ChangedData, ExampleMaterial, Material, Say, characters_of
from seqlab.tasks.predictions import Prediction
from seqlab.tasks.task import Figures, FloorFound, Task, Units
from seqlab.text.lexicon import Lexicon
from seqlab.text.tokenizer import Tokenizer

SCORED_AT_ONCE = 8_000  # tokens of one forward pass when scoring, padding included
MOST_ROWS = 256


@dataclass(frozen=True)
class ExampleScores(Scores):
    """Of examples, each of which is a unit; `sums_UK` are those of the metric."""

    sums_UK: np.ndarray
    shown: Figures  # by name, as people read them
    chosen_by: float | None = None  # where not the loss decides which weights are best

    @property
    def criterion(self) -> float:
        return self.loss if self.chosen_by is None else self.chosen_by


class ExampleTask(Task):
    """Labels, tags or targets for texts. Units of noise are examples."""

    name: ClassVar[str]
    contexts = ("example",)
    settings: ExampleSettings
    parts: Mapping[str, ExamplePart]

    def __init__(self, settings: ExampleSettings, parts: Mapping[str, ExamplePart], lexicon: Lexicon):
        self.settings, self.parts, self.lexicon = settings, parts, lexicon
        self._buckets = {
            name: Buckets(part, settings.batch, settings.batch_tokens, settings.longest) for name, part in parts.items()
        }

    # --- data ---------------------------------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        settings: RunSettings,
        say: Say,
        lexicon: Lexicon | None = None,
        kept: Path | None = None,
        expected: str | None = None,
    ) -> ExampleMaterial:
        found = open_examples(cls.name, settings.corpus)
        if expected not in (None, found.fingerprint):
            raise ChangedData(characters_of(found))
        for note in found.notes:
            say(note)
        material = cls._material(found, settings, lexicon or cls.learn(found.parts["train"], settings))
        cls._refuse_too_long(material.parts["train"], settings, say)
        return material

    @classmethod
    def open_whole(cls, source: tuple[str, ...], settings: RunSettings, lexicon: Lexicon) -> ExampleMaterial:
        own = settings.corpus
        columns = own.columns if Path(source[0]).suffix == Path(own.source[0]).suffix else None
        corpus = CorpusSettings(source=source, columns=columns)
        found = open_whole(cls.name, corpus, lexicon.labels)
        for note in found.notes:
            warnings.warn(note, SeqlabWarning, stacklevel=2)
        return cls._material(found, settings, lexicon)

    @classmethod
    def _material(cls, found: Examples, settings: RunSettings, lexicon: Lexicon) -> ExampleMaterial:
        parts = {name: cls.encode(examples, lexicon, settings) for name, examples in found.parts.items()}
        return Material(found.name, found.about, found.fingerprint, found, lexicon, parts)

    @classmethod
    def _refuse_too_long(cls, train: ExamplePart, settings: RunSettings, say: Say) -> None:
        own: Any = settings.task.settings
        fit = len(Buckets(train, 1, None, own.longest).kept_N)
        if not fit:
            raise DataError(f"every training example has more than {own.longest} tokens: raise task.longest.")
        if fit < len(train):
            say(f"{len(train) - fit:,} training examples have more than {own.longest} tokens and are left out")

    @classmethod
    @abstractmethod
    def learn(cls, examples: Sequence[Any], settings: RunSettings) -> Lexicon:
        """The symbols of the training examples."""

    @classmethod
    @abstractmethod
    def encode(cls, examples: Sequence[Any], lexicon: Lexicon, settings: RunSettings) -> ExamplePart:
        """Examples as ids; what the lexicon does not know reads as unknown."""

    @classmethod
    def on(cls, settings: RunSettings, material: ExampleMaterial) -> Self:
        own: Any = settings.task.settings
        return cls(own, material.parts, material.lexicon)

    @property
    def epoch(self) -> int:
        return self._buckets["train"].epoch

    @classmethod
    @abstractmethod
    def predict(
        cls, model: Any, texts: Sequence[str], lexicon: Lexicon, settings: RunSettings, **how: Any
    ) -> Sequence[Prediction]:
        """What the model says of these texts, in their order."""

    # --- scoring ------------------------------------------------------------------------------------------------------

    def glance(self, model: Any, limit: int) -> ExampleScores:
        return self.score(model, "validation", limit=limit)

    @abstractmethod
    def score(self, model: Any, split: str, context: str | None = None, limit: int | None = None) -> ExampleScores: ...

    @abstractmethod
    def nats(self, model: Any, part: ExamplePart, rows_B: np.ndarray) -> np.ndarray:
        """Of each of these examples, run together."""

    def units(self, scores: ExampleScores) -> Units:
        return scores.sums_UK, scores.tokens_U

    def figures(self, scores: ExampleScores) -> Figures:
        return scores.shown

    @abstractmethod
    def floors_on(self, material: ExampleMaterial, part: str, units: Units) -> list[FloorFound]: ...

    def floor(self, name: str, about: str, sums_UK: np.ndarray, **more: float) -> FloorFound:
        value = float(self.metric.value(sums_UK.sum(0)))
        return FloorFound(name, about, {self.headline: value, **more}, value, sums_UK)


def within(part: ExamplePart, limit: int | None) -> int:
    """How many examples from the beginning hold about `limit` tokens."""
    if limit is None:
        return len(part)
    return min(len(part), int(np.searchsorted(np.cumsum(part.lengths_N), limit)) + 1)


def passes(part: ExamplePart, count: int) -> list[np.ndarray]:
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
        return [tokenizer.encode(spaced(text) if spaces else text).astype(np.int64) for text in texts]


def tensor(array: np.ndarray | None) -> Any:
    return None if array is None else torch.from_numpy(array)
