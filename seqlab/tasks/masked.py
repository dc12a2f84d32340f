"""Masked language modelling: hide some tokens and predict them from both sides (Devlin et al. 2018, section 3.1)."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from seqlab.contracts import Loss, State, TextBatch, TextScores
from seqlab.data.text.batches import NOT_SCORED, Rows, generator
from seqlab.models.masked_language_model import MaskedModel
from seqlab.models.token_model import TokenModel
from seqlab.tasks.text import Tally, TextTask, as_batch, nats_of, score_rows, windows
from seqlab.tasks.text_settings import MaskedSettings

PASSES = 7  # over a text when it is scored: each hides every seventh token


class MaskedTask(TextTask):
    """Of the tokens of a window 15 % are to be predicted: 80 % of them hidden, 10 % replaced, 10 % left as they are."""

    Model = MaskedModel
    kind = "masked language model"
    modes = ("window",)
    baselines = ("unigram",)  # the others predict from one side only

    def batch(self, split: str, seed: int, index: int) -> TextBatch:
        rows = self._batches[split].rows(seed, index)
        return as_batch(hide(rows, self.settings, self.vocab_size, generator(seed ^ HIDING, index)))

    def loss(self, model: TokenModel, batch: TextBatch, carry: State | None, step: int) -> Loss:
        logits_BTV, _ = model(batch.inputs_BT, None, batch.mask_BT)
        return Loss(nats_of(logits_BTV, batch.targets_BT, "sum"), int((batch.targets_BT != NOT_SCORED).sum()))

    @torch.inference_mode()
    def score(self, model: TokenModel, split: str, mode: str | None = None, limit: int | None = None) -> TextScores:
        """In several passes, each of which hides other tokens, so that every one is hidden exactly once."""
        part = self.splits[split]
        tally = Tally(part, self.unknown, mode or self.modes[0])
        for units_B, rows in windows(model, part, self.settings.window, limit):
            for turn in range(PASSES):
                hidden = hide_every(rows, PASSES, turn, self.vocab_size)
                tally.add(units_B, score_rows(model, hidden)[0], hidden.targets_BT)
        return tally.scores()


HIDING = 0x6D61736B  # so that what is hidden is drawn apart from where windows begin


def hide(rows: Rows, settings: Any, mask: int, draw: np.random.Generator) -> Rows:
    """The tokens of a window, some of them changed; targets are what stood at the chosen places."""
    assert isinstance(settings, MaskedSettings)
    kept_BT = rows.targets_BT != NOT_SCORED
    chosen_BT = (draw.random(kept_BT.shape) < settings.predicted_share) & kept_BT
    if not chosen_BT.any():  # a batch of a few tokens must have something to predict
        chosen_BT[tuple(draw.choice(np.argwhere(kept_BT)))] = True
    fate_BT = draw.random(kept_BT.shape)
    as_mask_BT = chosen_BT & (fate_BT < settings.masked_share)
    as_other_BT = chosen_BT & ~as_mask_BT & (fate_BT < settings.masked_share + settings.random_share)
    hidden = _hidden(rows, chosen_BT, as_mask_BT, mask)
    return replace(hidden, inputs_BT=np.where(as_other_BT, draw.integers(0, mask, kept_BT.shape), hidden.inputs_BT))


def hide_every(rows: Rows, passes: int, turn: int, mask: int) -> Rows:
    """Every so many-th token hidden, beginning with the `turn`-th."""
    kept_BT = rows.targets_BT != NOT_SCORED
    chosen_BT = kept_BT & (np.arange(kept_BT.shape[1]) % passes == turn)
    return _hidden(rows, chosen_BT, chosen_BT, mask)


def _hidden(rows: Rows, chosen_BT: np.ndarray, as_mask_BT: np.ndarray, mask: int) -> Rows:
    """What is chosen is the target; some of it is shown as the mask, and padding as any id."""
    shown_BT = np.where(as_mask_BT, mask, np.where(rows.targets_BT != NOT_SCORED, rows.targets_BT, 0))
    return Rows(shown_BT, np.where(chosen_BT, rows.targets_BT, NOT_SCORED), rows.mask_BT)
