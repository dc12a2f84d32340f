"""Language modeling: predict the next token."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Loss, State, TextBatch, TextScores
from seqlab.data.text.batches import TokenRows, pad_windows
from seqlab.data.text.tokens import TokenSplit
from seqlab.models.language_model import LanguageModel
from seqlab.models.token_model import TokenModel
from seqlab.tasks.distillation import divergence
from seqlab.tasks.text import (
    ScoreAccumulator,
    TextTask,
    as_batch,
    batch_size,
    pieces_within,
    score_rows,
    token_nats,
    windows,
)

CARRIED_AT_ONCE = 1024  # tokens per forward pass when the state is carried through a text


class LanguageTask(TextTask):
    """Next-token prediction. Units are windows or, in the mode `carry`, consecutive chunks of a document."""

    Model = LanguageModel
    model_kind = "language model"
    modes = ("window", "carry")
    baselines: ClassVar = {"unigram": "reference", "kneser-ney": "main", "xz": "reference"}
    generates = True
    teacher: Callable[[], LanguageModel] | None = None  # loads the teacher at its first call

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        return as_batch(self._batches[split].rows(seed, index))

    def loss(self, model: TokenModel, batch: TextBatch, carry: State | None, step: int) -> Loss:
        logits_BTV, after = model(batch.inputs_BT, None if batch.fresh else carry, batch.mask_BT)
        total = token_nats(logits_BTV, batch.targets_BT, "sum")
        if self.teacher is not None:
            total = self._distilled(total, logits_BTV, batch)
        count = batch.targets_BT.numel() if batch.mask_BT is None else int(batch.mask_BT.sum())
        return Loss(total, count, after.detach() if self.settings.batching == "stream" else None)

    def _distilled(self, total: Tensor, logits_BTV: Tensor, batch: TextBatch) -> Tensor:
        assert self.teacher is not None
        with torch.no_grad():
            teacher_BTV, _ = self.teacher()(batch.inputs_BT, None, batch.mask_BT)
        settings: Any = self.settings
        soft = divergence(logits_BTV, teacher_BTV, batch.targets_BT, settings.temperature)
        return (1 - settings.teacher_weight) * total + settings.teacher_weight * soft

    @torch.inference_mode()
    def score(self, model: TokenModel, split: str, mode: str | None = None, limit: int | None = None) -> TextScores:
        mode = mode or self.modes[0]
        accumulator = ScoreAccumulator(self.splits[split], self.unknown, mode)
        if mode == "window":
            _score_windows(model, self.splits[split], self.settings.window, accumulator, limit)
        else:
            _score_carrying(model, self.splits[split], self.settings.window, accumulator, limit)
        return accumulator.scores()


def _score_windows(
    model: TokenModel, split: TokenSplit, window: int, accumulator: ScoreAccumulator, limit: int | None
) -> None:
    """Consecutive windows, each with a fresh state."""
    for units_B, rows in windows(model, split, window, limit):
        accumulator.add(units_B, score_rows(model, rows)[0], rows.targets_BT)


def _score_carrying(
    model: TokenModel, split: TokenSplit, window: int, accumulator: ScoreAccumulator, limit: int | None
) -> None:
    """Each document in one pass with its state carried; with limited attention, in windows that overlap by half."""
    if model.backbone.context is not None:
        _score_overlapping(model, split, model.backbone.context, accumulator, limit)
        return
    _score_chunks(model, split, window, accumulator, limit)


def _score_overlapping(
    model: TokenModel, split: TokenSplit, context: int, accumulator: ScoreAccumulator, limit: int | None
) -> None:
    """Pieces of half a context, each with the half before it as context that is not scored."""
    half = max(1, context // 2)
    firsts_P, lengths_P, document_P = pieces_within(split, half, limit)
    opens_P = np.diff(document_P, prepend=-1) != 0
    seen_P = np.where(opens_P, 0, np.minimum(half, context - lengths_P))
    for seen in np.unique(seen_P):
        units_N = np.flatnonzero(seen_P == seen)
        for at in range(0, len(units_N), batch_size(model, context)):
            units_B = units_N[at : at + batch_size(model, context)]
            rows = pad_windows(split, firsts_P[units_B] - seen, lengths_P[units_B] + seen)
            accumulator.add(units_B, score_rows(model, rows)[0][:, seen:], rows.targets_BT[:, seen:])


def _score_chunks(
    model: TokenModel, split: TokenSplit, window: int, accumulator: ScoreAccumulator, limit: int | None
) -> None:
    start = state = model.backbone.start_limited(1, window)
    for unit, rows, fresh in _chunks(split, limit):
        nats_1T, state = score_rows(model, rows, start if fresh else state)
        accumulator.add(np.array([unit]), nats_1T, rows.targets_BT)


def _chunks(split: TokenSplit, limit: int | None) -> Iterator[tuple[int, TokenRows, bool]]:
    firsts_P, lengths_P, document_P = pieces_within(split, CARRIED_AT_ONCE, limit)
    for unit, (first, length, document) in enumerate(zip(firsts_P, lengths_P, document_P, strict=True)):
        rows = pad_windows(split, np.array([first]), np.array([length]))
        yield unit, replace(rows, fresh=False), unit == 0 or document != document_P[unit - 1]
