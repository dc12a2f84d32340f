"""Masked language modeling: hide some tokens and predict them from both sides (Devlin et al. 2018, section 3.1)."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch

from seqlab.contracts import Loss, State, TextBatch, TextScores
from seqlab.data.batching import batch_generator
from seqlab.data.text.batches import NOT_SCORED, TokenRows
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.token_model import TokenModel
from seqlab.tasks.text import TextTask
from seqlab.tasks.text_scores import ScoreAccumulator, as_batch, score_rows, token_nats
from seqlab.tasks.text_settings import MaskedSettings

PASSES = 7  # when scoring: each pass masks every seventh token


class MaskedTask(TextTask):
    """By default 15% of the tokens are predicted: 80% of them masked, 10% replaced at random, 10% unchanged."""

    Model = MaskedLanguageModel
    model_kind = "masked language model"
    reading = "seqlab.inspection.text_readings:MaskedReading"
    modes = ("window",)
    baselines: ClassVar = {"unigram": "reference"}  # the others predict from one side only

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        rows, mask = self._batches[split].rows(seed, index), self.vocabulary.tokenizer.vocab_size
        return as_batch(mask_tokens(rows, self.settings, mask, batch_generator(seed ^ MASKING, index)))

    def loss(self, model: TokenModel, batch: TextBatch, carry: State | None, step: int) -> Loss:
        logits_BTV, _ = model(batch.inputs_BT, None, batch.mask_BT)
        return Loss(token_nats(logits_BTV, batch.targets_BT, "sum"), int((batch.targets_BT != NOT_SCORED).sum()))

    @torch.inference_mode()
    def score(self, model: TokenModel, split: str, mode: str | None = None, limit: int | None = None) -> TextScores:
        """In several passes, each of which masks other tokens: every token is masked exactly once."""
        tokenizer = self.vocabulary.tokenizer
        accumulator = ScoreAccumulator(self.splits[split], tokenizer.unknown, mode or self.modes[0], limit)
        for units_B, rows in accumulator.windows(model, self.settings.window):
            for turn in range(PASSES):
                hidden = mask_every(rows, PASSES, turn, tokenizer.vocab_size)
                accumulator.add(units_B, score_rows(model, hidden)[0], hidden.targets_BT)
        return accumulator.scores()


MASKING = 0x6D61736B  # separates these random numbers from those that place windows


def mask_tokens(rows: TokenRows, settings: Any, mask: int, draw: np.random.Generator) -> TokenRows:
    """Choose tokens to predict and mask, replace or keep each; targets are the original tokens."""
    assert isinstance(settings, MaskedSettings)
    kept_BT = rows.targets_BT != NOT_SCORED
    chosen_BT = (draw.random(kept_BT.shape) < settings.predicted_share) & kept_BT
    if not chosen_BT.any():  # a batch of a few tokens must have something to predict
        chosen_BT[tuple(draw.choice(np.argwhere(kept_BT)))] = True
    draw_BT = draw.random(kept_BT.shape)
    as_mask_BT = chosen_BT & (draw_BT < settings.masked_share)
    as_other_BT = chosen_BT & ~as_mask_BT & (draw_BT < settings.masked_share + settings.random_share)
    hidden = _hidden(rows, chosen_BT, as_mask_BT, mask)
    return replace(hidden, inputs_BT=np.where(as_other_BT, draw.integers(0, mask, kept_BT.shape), hidden.inputs_BT))


def mask_every(rows: TokenRows, passes: int, turn: int, mask: int) -> TokenRows:
    """Mask every `passes`-th token, beginning with number `turn`."""
    kept_BT = rows.targets_BT != NOT_SCORED
    chosen_BT = kept_BT & (np.arange(kept_BT.shape[1]) % passes == turn)
    return _hidden(rows, chosen_BT, chosen_BT, mask)


def _hidden(rows: TokenRows, chosen_BT: np.ndarray, as_mask_BT: np.ndarray, mask: int) -> TokenRows:
    """Chosen tokens become targets, some of them masked in the input; padding is any valid id."""
    inputs_BT = np.where(as_mask_BT, mask, np.where(rows.targets_BT != NOT_SCORED, rows.targets_BT, 0))
    return TokenRows(inputs_BT, np.where(chosen_BT, rows.targets_BT, NOT_SCORED), rows.mask_BT)
