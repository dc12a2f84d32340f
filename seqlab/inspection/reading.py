"""A text as a run reads it: its tokens, the trace of the pass, and what the model predicts at every token."""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from seqlab.config import RunSettings
from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.models.classifier import Classifier
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.model import Model
from seqlab.models.token_model import TokenModel
from seqlab.registry import TASKS
from seqlab.tasks.examples import encode_all
from seqlab.tasks.masked import PASSES
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


class Reading:
    """One text and one run. What it computes is kept: several views share it."""

    def __init__(self, run: TrainedRun, text: str):
        self.run, self.text = run, text
        self.ids = _encode(run, text)
        if not self.ids:
            raise UsageError("the text is empty: give some words to look at.")
        if len(self.ids) > MAX_TEXT_TOKENS:
            raise UsageError(
                f"the text has {len(self.ids):,} tokens: a view shows at most {MAX_TEXT_TOKENS:,}. Give a part of it."
            )

    @property
    def model(self) -> Model:
        return self.run.model

    @property
    def arch(self) -> str:
        return self.run.settings.backbone.name

    @cached_property
    def tokens(self) -> list[str]:
        """Every token, with spaces and newlines shown."""
        return [self.token(number) for number in self.ids]

    @cached_property
    def ends(self) -> list[int]:
        """Where each token ends in the text, in bytes."""
        return list(accumulate(len(self.run.tokenizer.decode_bytes([token])) for token in self.ids))

    def token(self, number: int) -> str:
        return self._names[number].replace("\\n", "\n").replace("\\t", "\t").translate(VISIBLE)

    @cached_property
    def _names(self) -> list[str]:
        return self.run.tokenizer.tokens()

    @cached_property
    @torch.no_grad()
    def trace(self) -> Trace:
        """What happens inside the model as it reads the text from its beginning."""
        trace = Trace()
        self.model(torch.tensor([self.ids]), trace=trace)
        return trace

    @property
    def predicts_tokens(self) -> bool:
        return isinstance(self.model, TokenModel)

    @torch.no_grad()
    def logprobs(self, trace: Trace | None = None) -> Tensor:
        """The log-probability of every token of the vocabulary in each place of the text (T, V).

        A language model predicts from what comes before: nothing at the first token, whose row is NaN. A masked one
        predicts from both sides, in several passes, each of which masks other tokens, as its scores are computed."""
        ids_T = torch.tensor(self.ids)
        if not isinstance(self.model, MaskedLanguageModel):
            logits_TV = self.model(ids_T[None, :-1] if len(ids_T) > 1 else ids_T[None], trace=trace)[0][0]
            nothing_1V = logits_TV.new_full((1, logits_TV.shape[1]), math.nan)
            return torch.cat([nothing_1V, logits_TV.log_softmax(1)])[: len(ids_T)]
        place_T = torch.arange(len(ids_T))
        masked_PT = place_T % PASSES == torch.arange(PASSES)[:, None]
        logits_PTV, _ = self.model(ids_T.expand(PASSES, -1).masked_fill(masked_PT, self.model.mask), trace=trace)
        return logits_PTV[place_T % PASSES, place_T].log_softmax(1)


def _encode(run: TrainedRun, text: str) -> tuple[int, ...]:
    tokenizer, model = run.tokenizer, run.model
    if isinstance(model, Classifier):
        return tuple(encode_all(tokenizer, [text])[0].tolist())
    if isinstance(model, TokenModel):
        return tuple([] if tokenizer.begin is None else [tokenizer.begin]) + tuple(tokenizer.encode(text))
    kind = TASKS.load(run.settings.task.name).model_kind
    raise UsageError(
        f"'{run.path}' is a {kind}: views show language models, masked language models and classifiers, which read "
        "one text."
    )


def read(runs: Sequence[TrainedRun], text: str) -> list[Reading]:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{text!r:.100} is not a text to look at.")
    return [Reading(run, text) for run in runs]


def run_labels(readings: Sequence[Reading]) -> list[str]:
    """The architectures, or the names of the folders: the first that tell the runs apart; else numbers."""
    for labels in ([reading.arch for reading in readings], [reading.run.path.name for reading in readings]):
        if len(set(labels)) == len(labels) and max(map(len, labels)) <= LABEL_WIDTH:
            return labels
    return [f"run {number}" for number, _ in enumerate(readings, 1)]
