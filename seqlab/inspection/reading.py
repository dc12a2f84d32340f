"""A text as a run reads it: the tokens that go in, what the model predicts where, and what happens inside.

What that means depends on the task, which names its class here (`Task.reading`). Views need nothing else of a task.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from seqlab.config import RunSettings
from seqlab.contracts import Backbone, State, Trace
from seqlab.errors import UsageError
from seqlab.models.model import Model
from seqlab.registry import TASKS
from seqlab.tasks.dataset import AnyDataset
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

MAX_TEXT_TOKENS = 2_000  # attention has a weight for every pair of them
LABEL_WIDTH = 32  # characters that fit above a column
VISIBLE = str.maketrans({" ": "·", "\n": "↵", "\t": "⇥"})


class TrainedRun(Protocol):
    """What is read with: a Run is one."""

    model: Any
    settings: RunSettings
    vocabulary: Vocabulary

    @property
    def path(self) -> Path: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def starts_untrained(self) -> bool: ...

    def untrained(self) -> Any: ...

    def dataset(self) -> AnyDataset: ...


@dataclass(frozen=True)
class Side:
    """One of the texts that a model reads: its tokens, and what the names of values recorded about it begin with."""

    name: str
    ids: tuple[int, ...]
    tokens: list[str]  # with spaces and newlines shown
    scope: str = ""

    @property
    def embedding(self) -> str:
        """The name of what the model reads for each token."""
        return f"{self.scope}embedding"


@dataclass(frozen=True)
class Question:
    """One answer to be explained by the first `count` tokens of a side: its log-probability in each row of a batch."""

    words: str
    side: Side
    count: int
    answer: Callable[[Trace, int], Tensor]  # a trace that may replace values, and the number of rows


class Reading(ABC):
    """One text and one run. What it computes is kept: several views share it.

    `sides` are the texts that are read, the last one that of the predictions. Something is predicted at each of the
    `places`: `answers` are what is scored there, and `after` is the token of the last side from whose output it is
    predicted, -1 for none."""

    sides: Sequence[Side]
    places: Sequence[str]
    answers: Sequence[int]
    after: Sequence[int]
    answer = "token"  # what an answer is, in a word
    answer_lane = ""  # the name of the lane of answers, where they are something else than the places
    target_means: str | None = None  # what a given target is; None if nothing can be given

    def __init__(self, run: TrainedRun, text: str, target: str | None = None):
        self.run, self.text, self.target = run, text, target
        if target is not None and self.target_means is None:
            raise UsageError(f"a target does nothing for a {self.kind}, which is scored by the text: leave it out.")
        if target is not None and not target.strip():
            raise UsageError(f"the target is empty: expected {self.target_means}.")
        self.open()

    @abstractmethod
    def open(self) -> None:
        """Set what the class describes, from the text and the target."""

    # --- what goes in -------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Model:
        return self.run.model

    @property
    def backbone(self) -> Backbone:
        """What reads the last side."""
        return self.model.backbone

    def start(self) -> State | None:
        """The state before the first token of the last side; None for that of a text that begins."""
        return None

    @property
    def arch(self) -> str:
        return self.run.settings.backbone.name

    @property
    def kind(self) -> str:
        return TASKS.load(self.run.settings.task.name).model_kind

    @property
    def side(self) -> Side:
        """The text in which something is predicted."""
        return self.sides[-1]

    @property
    def tokens(self) -> list[str]:
        return self.side.tokens

    @property
    def ids(self) -> tuple[int, ...]:
        return self.side.ids

    @property
    def title(self) -> str:
        return excerpt(self.text)

    @property
    def texts(self) -> dict[str, str | int]:
        """Both texts, of a model that reads two, and where one was cut off."""
        return {}

    def side_of(self, name: str) -> Side:
        """Whose tokens the positions of a recorded value are."""
        return next((side for side in self.sides if side.scope and name.startswith(side.scope)), self.side)

    @cached_property
    def last_characters(self) -> list[int]:
        """The last character of the text in each token of the first side; before the first one, the first."""
        if self.run.tokenizer.unknown in self.sides[0].ids:
            raise UsageError("some of the text is unknown to the tokenizer, so its tokens have no place in the text.")
        sizes_N = np.array([len(character.encode()) for character in self.text])
        ends_T = np.array(byte_ends(self.run.tokenizer, self.sides[0].ids))
        before = ends_T[-1] - int(sizes_N.sum())  # the space that is read before an example
        starts_N = np.cumsum(sizes_N) - sizes_N
        return (np.searchsorted(starts_N, ends_T - before, side="left") - 1).clip(0, len(sizes_N) - 1).tolist()

    # --- what is predicted --------------------------------------------------------------------------------------------

    @property
    def own_answers(self) -> bool:
        """Whether the answers are what the model chose itself."""
        return self.target_means is not None and self.target is None

    @property
    def whose(self) -> str:
        """Says so, after a number of answers."""
        return ", which it chose itself" if self.own_answers else ""

    @property
    def unknown_answers(self) -> int:
        """How many of the tokens that are predicted are unknown ones."""
        return 0

    @abstractmethod
    def answer_name(self, answer: int) -> str: ...

    @cached_property
    @abstractmethod
    def ends(self) -> list[int]:
        """Where each place ends in the text that is predicted, in bytes."""

    @abstractmethod
    def predict(self, trace: Trace | None = None) -> Tensor:
        """The log-probability of every answer at each place (P, V); NaN where nothing is predicted."""

    @torch.no_grad()
    def logprobs(self, trace: Trace | None = None) -> Tensor:
        return self.predict(trace)

    @cached_property
    @torch.no_grad()
    def trace(self) -> Trace:
        """What happens inside the model as it reads."""
        trace = Trace()
        self.predict(trace)
        return trace

    @abstractmethod
    def ask(self, place: int) -> Question:
        """Why the answer at a place."""

    def trace_of(self, ids_T: Tensor) -> Trace | None:
        """What happens inside as it reads these tokens instead; None if it reads more than tokens."""
        return None

    # --- what else it could be --------------------------------------------------------------------------------------

    def rearranged(self, order_T: Tensor) -> "Reading":
        """The same with other tokens of the last side in its places; what is scored stays."""
        other = self._copy()
        other.sides = [*self.sides[:-1], replace(self.side, ids=tuple(self.ids[at] for at in order_T.tolist()))]
        return other

    def with_model(self, model: Model) -> "Reading":
        other = self._copy()
        other.run = copy(self.run)
        other.run.model = model
        return other

    def _copy(self) -> "Reading":
        other = copy(self)
        vars(other).pop("trace", None)
        return other


def make_side(name: str, ids: Sequence[int], tokens: list[str], limit: int | None, scope: str = "") -> Side:
    """UsageError if there is nothing to read, or more than a view shows or the model can read."""
    if not ids:
        raise UsageError(f"the {name} is empty: give some words to look at.")
    if len(ids) > MAX_TEXT_TOKENS:
        raise UsageError(
            f"the {name} has {len(ids):,} tokens: a view shows at most {MAX_TEXT_TOKENS:,}. Give a part of it."
        )
    if limit is not None and len(ids) > limit:
        raise UsageError(f"the {name} has {len(ids):,} tokens: the model reads at most {limit:,}. Give a part of it.")
    return Side(name, tuple(ids), tokens, scope)


def require_predictions(reading: Reading) -> None:
    """UsageError if there is no place with something before it."""
    if all(after < 0 for after in reading.after):
        raise UsageError("the text has one token, and nothing before it predicts it: give a longer text.")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def token_names(tokenizer: Tokenizer) -> list[str]:
    """Of every token, with spaces and newlines shown."""
    return [visible(name.replace("\\n", "\n").replace("\\t", "\t")) for name in tokenizer.tokens()]


def visible(text: str) -> str:
    return text.translate(VISIBLE)


def byte_ends(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    return list(accumulate(len(tokenizer.decode_bytes([token])) for token in ids))


def read(runs: Sequence[TrainedRun], text: str, target: str | None = None) -> list[Reading]:
    for given in (text, target):
        if given is not None and not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{given!r:.100} is not a text to look at.")
    return [read_text(run, text, target) for run in runs]


def read_text(run: TrainedRun, text: str, target: str | None = None) -> Reading:
    """UsageError if the task does not say how its models are read."""
    task = TASKS.load(run.settings.task.name)
    if task.reading is None:
        raise UsageError(
            f"'{run.path}' is a {task.model_kind}: the task '{run.settings.task.name}' declares no reading, so there "
            "is no view of its models."
        )
    return resolve_name(task.reading)(run, text, target)


def excerpt(text: str) -> str:
    one_line = " ".join(text.split())
    return f"“{one_line}”" if len(one_line) <= 60 else f"“{one_line[:59]}…”"


def run_labels(readings: Sequence[Reading]) -> list[str]:
    """The architectures, or the names of the folders: the first that tell the runs apart; else numbers."""
    for labels in ([one.run.settings.model_name for one in readings], [one.run.path.name for one in readings]):
        if len(set(labels)) == len(labels) and max(map(len, labels)) <= LABEL_WIDTH:
            return labels
    return [f"run {number}" for number, _ in enumerate(readings, 1)]
