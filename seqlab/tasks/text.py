"""What every task on a running text shares: its parts as batches, and the sums that scoring finds."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.contracts import Batch, Loss, Scores, State
from seqlab.data.batches import NOT_SCORED, Batches, Lines, Rows, Stream, Windows, padded, pieces
from seqlab.data.tokens import TokenPart
from seqlab.models.tokens import TokenModel
from seqlab.tasks.text_settings import TextSettings

SCORED_AT_ONCE = 1 << 25  # logits of one forward pass when scoring


class TextTask(ABC):
    """A task on the parts of one corpus."""

    Model: ClassVar[type[TokenModel]]
    kind: ClassVar[str]  # what its models are called
    contexts: ClassVar[tuple[str, ...]]  # the ways in which a text can be scored, the usual one first
    floors: ClassVar[tuple[str, ...]]  # what a result is held against: beginnings of their names
    writes: ClassVar[bool]  # whether its models continue a text

    def __init__(self, settings: TextSettings, parts: dict[str, TokenPart], vocabulary: int, unknown: int | None):
        self.settings = settings
        self.parts = parts
        self.vocabulary = vocabulary
        self.unknown = unknown
        self._batches: dict[str, Batches] = {name: make_batches(settings, part) for name, part in parts.items()}

    @property
    def epoch(self) -> int:
        """Steps in one pass over the training text."""
        return self._batches["train"].epoch

    @abstractmethod
    def batch(self, split: str, seed: int, index: int) -> Batch:
        """A pure function of its arguments."""

    @abstractmethod
    def loss(self, model: TokenModel, batch: Batch, carry: State | None, step: int) -> Loss: ...

    @abstractmethod
    def score(self, model: TokenModel, split: str, context: str = "window", limit: int | None = None) -> Scores:
        """Every token but each document's first, exactly once.

        With a `limit`, only about that many tokens from the part's beginning."""


def make_batches(settings: TextSettings, part: TokenPart) -> Batches:
    if part.facts.documents > 1:
        return Lines(part, settings.batch, settings.window)
    settings = fit_sizes(settings, len(part))
    kind = Stream if settings.batching == "stream" else Windows
    return kind(part, settings.batch, settings.window)


def fit_sizes(settings: TextSettings, tokens: int) -> TextSettings:
    """The same, or a smaller window and batch where the text is shorter than one batch of windows."""
    if tokens > settings.batch * settings.window:
        return settings
    window = max(1, min(settings.window, tokens // 8, tokens - 1))
    return settings.model_copy(update={"window": window, "batch": max(1, min(settings.batch, (tokens - 1) // window))})


def as_batch(rows: Rows) -> Batch:
    mask_BT = None if rows.mask_BT is None else torch.from_numpy(rows.mask_BT)
    return Batch(torch.from_numpy(rows.inputs_BT), torch.from_numpy(rows.targets_BT), mask_BT, rows.fresh)


def nats_of(logits_BTV: Tensor, targets_BT: Tensor, reduction: str) -> Tensor:
    flat = logits_BTV.flatten(0, 1)
    return cross_entropy(flat, targets_BT.flatten(), ignore_index=NOT_SCORED, reduction=reduction)


class Tally:
    """Adds up what scoring finds, unit by unit."""

    def __init__(self, part: TokenPart, unknown: int | None, context: str):
        self.part, self.unknown, self.context = part, unknown, context
        self.units: dict[int, tuple[float, int]] = {}
        self.by_position = np.zeros((2, 0))
        self.unknown_sums = np.zeros(2)

    def add(self, units_B: np.ndarray, nats_BT: np.ndarray, targets_BT: np.ndarray) -> None:
        """Nats of the targets of the given units; padding is passed over."""
        kept_BT = targets_BT != NOT_SCORED
        nats_BT = np.where(kept_BT, nats_BT.astype(np.float64), 0.0)
        for unit, nats, count in zip(units_B, nats_BT.sum(1), kept_BT.sum(1), strict=True):
            before = self.units.get(int(unit), (0.0, 0))
            self.units[int(unit)] = (before[0] + nats, before[1] + int(count))
        longer = max(self.by_position.shape[1], nats_BT.shape[1])
        grown = np.zeros((2, longer))
        grown[:, : self.by_position.shape[1]] = self.by_position
        grown[0, : nats_BT.shape[1]] += nats_BT.sum(0)
        grown[1, : nats_BT.shape[1]] += kept_BT.sum(0)
        self.by_position = grown
        if self.unknown is not None:
            met_BT = targets_BT == self.unknown
            self.unknown_sums += (met_BT.sum(), nats_BT[met_BT].sum())

    def scores(self) -> Scores:
        units = [self.units[unit] for unit in sorted(self.units)]
        facts = self.part.facts
        count = sum(count for _, count in units)
        # what a part of a part spells out is known only on average
        share = count / (facts.tokens - facts.documents)
        return Scores(
            nats_U=np.array([nats for nats, _ in units]),
            tokens_U=np.array([count for _, count in units]),
            nats_by_position_T=self.by_position[0],
            tokens_by_position_T=self.by_position[1],
            characters=round(facts.scored_characters * share),
            bytes=round(facts.scored_bytes * share),
            unknown_tokens=int(self.unknown_sums[0]),
            unknown_nats=float(self.unknown_sums[1]),
            context=self.context,
        )


def batch_size(model: TokenModel, window: int) -> int:
    """Windows per forward pass, so that large vocabularies do not fill the memory."""
    return max(1, min(64, SCORED_AT_ONCE // (window * model.vocabulary)))


def within(part: TokenPart, window: int, limit: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The part's pieces, or those that begin within its first `limit` tokens."""
    cut = pieces(part, window)
    last = len(cut[0]) if limit is None else int(np.searchsorted(cut[0], limit))
    return cut[0][:last], cut[1][:last], cut[2][:last]


def windows(model: TokenModel, part: TokenPart, window: int, limit: int | None) -> Iterator[tuple[np.ndarray, Rows]]:
    """The part's windows laid end to end, those of one length together: which they are, and their ids."""
    firsts_P, lengths_P, _ = within(part, window, limit)
    order_P = np.argsort(lengths_P, kind="stable")
    size = batch_size(model, window)
    for at in range(0, len(order_P), size):
        units_B = order_P[at : at + size]
        yield units_B, padded(part, firsts_P[units_B], lengths_P[units_B])


def score_rows(model: TokenModel, rows: Rows, state: State | None = None) -> tuple[np.ndarray, State]:
    """The nats of every target, and the state after."""
    batch = as_batch(rows).to(next(model.parameters()).device)
    logits_BTV, after = model(batch.inputs_BT, state, batch.mask_BT)
    return nats_of(logits_BTV, batch.targets_BT, "none").view(rows.targets_BT.shape).cpu().numpy(), after
