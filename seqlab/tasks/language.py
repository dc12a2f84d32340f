"""Language modeling: predict the next token."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from seqlab.config import RunSettings
from seqlab.contracts import Loss, State, TextBatch, TextScores
from seqlab.data.batching import cut_by_count
from seqlab.data.text.batches import Batches, pad_windows
from seqlab.data.text.tokens import TokenSplit
from seqlab.distributed.world import joined
from seqlab.mixing.mixture import MIXTURE_FILE
from seqlab.models.language_model import LanguageModel
from seqlab.models.token_model import TokenModel
from seqlab.tasks.dataset import Log, TextDataset
from seqlab.tasks.distillation import divergence
from seqlab.tasks.mixing import fit_mixture, kept_notes, training_part
from seqlab.tasks.text import TextTask
from seqlab.tasks.text_scores import ScoreAccumulator, as_batch, batch_size, score_rows, token_nats
from seqlab.tasks.text_settings import LanguageSettings

CARRIED_AT_ONCE = 1024  # tokens per forward pass when the state is carried through a text


class LanguageTask(TextTask):
    """Next-token prediction. Units are windows or, in the mode `carry`, consecutive chunks of a document."""

    Model = LanguageModel
    model_kind = "language model"
    reading = "seqlab.inspection.text_readings:LanguageReading"
    modes = ("window", "carry")
    baselines: ClassVar = {"unigram": "reference", "kneser-ney": "main", "xz": "reference"}
    command = "generate"
    generates = True
    teacher: Callable[[], LanguageModel] | None = None  # loads the teacher at its first call

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: TextDataset, log: Log) -> RunSettings:
        """As for other texts; says how much a mixture keeps from the network."""
        settings = super().fit_settings(settings, dataset, log)
        task = settings.task.settings
        if isinstance(task, LanguageSettings) and task.mix == "counts":
            for note in kept_notes(dataset.splits, task.trained_window):
                log(note)
        return settings

    def make_batches(self, split: TokenSplit) -> Batches:
        """Of the training split, without what a mixture is fitted on."""
        if self._is_mixed and split is self.splits.get("train"):
            split = training_part(self.splits)[0]
        return super().make_batches(split)

    def complete(self, model: LanguageModel, log: Log) -> Mapping[str, Mapping[str, Tensor]]:
        if not self._is_mixed:
            return {}
        settings: Any = self.settings
        max_bytes = int(settings.mix_size * 1e6)
        model.mixture, self.counts = fit_mixture(model, self.splits, settings.window, max_bytes, log)
        return {MIXTURE_FILE: model.mixture.tensors()}

    @property
    def _is_mixed(self) -> bool:
        return self.settings.option("mix", "none") == "counts"

    @property
    def mode(self) -> str:
        return self.settings.option("mode", "window")

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        return as_batch(self._batches[split].rows(seed, index))

    def loss(self, model: TokenModel, batch: TextBatch, carry: State | None, step: int) -> Loss:
        logits_BTV, after = model(batch.inputs_BT, None if batch.fresh else carry, batch.mask_BT)
        total = token_nats(logits_BTV, batch.targets_BT, "sum")
        plain = None
        if self.teacher is not None:
            plain = total.detach() if self.settings.teacher_weight else None  # pyright: ignore[reportAttributeAccessIssue]
            total = self._distilled(total, logits_BTV, batch)
        count = batch.targets_BT.numel() if batch.mask_BT is None else int(batch.mask_BT.sum())
        return Loss(total, count, after.detach() if self.settings.batching == "stream" else None, plain)

    def _distilled(self, total: Tensor, logits_BTV: Tensor, batch: TextBatch) -> Tensor:
        assert self.teacher is not None
        with torch.no_grad():
            teacher_BTV, _ = self.teacher()(batch.inputs_BT, None, batch.mask_BT)
        settings: Any = self.settings
        soft = divergence(logits_BTV, teacher_BTV, batch.targets_BT, settings.temperature)
        return (1 - settings.teacher_weight) * total + settings.teacher_weight * soft

    @torch.inference_mode()
    def score(self, model: TokenModel, split: str, mode: str | None = None, limit: int | None = None) -> TextScores:
        mode, window, context = mode or self.mode, self.settings.window, model.backbone.context
        accumulator = ScoreAccumulator(self.splits[split], self.vocabulary.tokenizer.unknown, mode, limit)
        if mode == "window":
            _score_windows(model, accumulator, window)
        elif context is None:
            _score_carrying(model, accumulator, window)
        else:
            _score_overlapping(model, accumulator, context)
        return accumulator.scores()


def _score_windows(model: TokenModel, accumulator: ScoreAccumulator, window: int) -> None:
    """Consecutive windows, each with a fresh state."""
    for units_B, rows in accumulator.windows(model, window):
        accumulator.add(units_B, score_rows(model, rows)[0], rows.targets_BT)


def _score_overlapping(model: TokenModel, accumulator: ScoreAccumulator, context: int) -> None:
    """For limited attention: pieces of half a context, each with the half before it as context that is not scored."""
    half = max(1, context // 2)
    firsts_P, lengths_P, document_P = accumulator.pieces(half)
    opens_P = np.diff(document_P, prepend=-1) != 0
    seen_P = np.where(opens_P, 0, np.minimum(half, context - lengths_P))
    batches = [
        (int(seen), units_B)
        for seen in np.unique(seen_P)
        for units_B in cut_by_count(np.flatnonzero(seen_P == seen), batch_size(model, context))
    ]
    for seen, units_B in joined().part(batches):
        rows = pad_windows(accumulator.split, firsts_P[units_B] - seen, lengths_P[units_B] + seen)
        accumulator.add(units_B, score_rows(model, rows)[0][:, seen:], rows.targets_BT[:, seen:])


def _score_carrying(model: TokenModel, accumulator: ScoreAccumulator, window: int) -> None:
    """Each document in one pass, in chunks that carry the state: by one process."""
    start = state = model.start_limited(1, window)
    previous = None
    for unit, (first, length, document) in enumerate(zip(*accumulator.pieces(CARRIED_AT_ONCE), strict=True)):
        if document % joined().size != joined().rank:
            continue
        rows = pad_windows(accumulator.split, np.array([first]), np.array([length]))
        nats_1T, state = score_rows(model, rows, state if document == previous else start)
        accumulator.add(np.array([unit]), nats_1T, rows.targets_BT)
        previous = document
