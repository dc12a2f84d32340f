"""Masked language modelling: hide some tokens and predict them from both sides (Devlin et al. 2018, section 3.1)."""

from typing import Any

import numpy as np
import torch

from seqlab.contracts import Batch, Loss, Scores, State
from seqlab.data.batches import NOT_SCORED, Rows, generator, padded
from seqlab.models.masked import MaskedModel
from seqlab.models.tokens import TokenModel
from seqlab.tasks.text import Tally, TextTask, as_batch, batch_size, nats_of, within
from seqlab.tasks.text_settings import MaskedSettings

PASSES = 7  # over a text when it is scored: each hides every seventh token


class MaskedTask(TextTask):
    """Of the tokens of a window 15 % are to be predicted: 80 % of them hidden, 10 % replaced, 10 % left as they are."""

    Model = MaskedModel
    kind = "masked language model"
    contexts = ("window",)
    floors = ("unigram",)  # the others predict from one side only
    writes = False

    def batch(self, split: str, seed: int, index: int) -> Batch:
        rows = self._batches[split].rows(seed, index)
        return as_batch(hide(rows, self.settings, self.vocabulary, generator(seed ^ HIDING, index)))

    def loss(self, model: TokenModel, batch: Batch, carry: State | None, step: int) -> Loss:
        logits_BTV, _ = model(batch.inputs_BT, None, batch.mask_BT)
        return Loss(nats_of(logits_BTV, batch.targets_BT, "sum"), int((batch.targets_BT != NOT_SCORED).sum()))

    @torch.inference_mode()
    def score(self, model: TokenModel, split: str, context: str = "window", limit: int | None = None) -> Scores:
        """In several passes, each of which hides other tokens, so that every one is hidden exactly once."""
        part, window = self.parts[split], self.settings.window
        tally = Tally(part, self.unknown, context)
        firsts_P, lengths_P, _ = within(part, window, limit)
        order_P = np.argsort(lengths_P, kind="stable")
        for at in range(0, len(order_P), batch_size(model, window)):
            units_B = order_P[at : at + batch_size(model, window)]
            rows = padded(part, firsts_P[units_B], lengths_P[units_B])
            for turn in range(PASSES):
                hidden = hide_every(rows, PASSES, turn, self.vocabulary)
                batch = as_batch(hidden).to(next(model.parameters()).device)
                logits_BTV, _ = model(batch.inputs_BT, None, batch.mask_BT)
                nats_BT = nats_of(logits_BTV, batch.targets_BT, "none").view(hidden.targets_BT.shape)
                tally.add(units_B, nats_BT.cpu().numpy(), hidden.targets_BT)
        return tally.scores()


HIDING = 0x6D61736B  # so that what is hidden is drawn apart from where windows begin


def hide(rows: Rows, settings: Any, mask: int, draw: np.random.Generator) -> Rows:
    """The tokens of a window, some of them changed; targets are what stood at the chosen places."""
    assert isinstance(settings, MaskedSettings)
    kept_BT = rows.targets_BT != NOT_SCORED
    chosen_BT = (draw.random(kept_BT.shape) < settings.share) & kept_BT
    if not chosen_BT.any():  # a batch of a few tokens must have something to predict
        chosen_BT[tuple(draw.choice(np.argwhere(kept_BT)))] = True
    fate_BT = draw.random(kept_BT.shape)
    as_mask_BT = chosen_BT & (fate_BT < settings.masked)
    as_other_BT = chosen_BT & ~as_mask_BT & (fate_BT < settings.masked + settings.replaced)
    shown_BT = np.where(as_mask_BT, mask, np.where(kept_BT, rows.targets_BT, 0))
    shown_BT = np.where(as_other_BT, draw.integers(0, mask, kept_BT.shape), shown_BT)
    return Rows(shown_BT, np.where(chosen_BT, rows.targets_BT, NOT_SCORED), rows.mask_BT)


def hide_every(rows: Rows, passes: int, turn: int, mask: int) -> Rows:
    """Every so many-th token hidden, beginning with the `turn`-th."""
    kept_BT = rows.targets_BT != NOT_SCORED
    chosen_BT = kept_BT & (np.arange(kept_BT.shape[1]) % passes == turn)
    shown_BT = np.where(chosen_BT, mask, np.where(kept_BT, rows.targets_BT, 0))
    return Rows(shown_BT, np.where(chosen_BT, rows.targets_BT, NOT_SCORED), rows.mask_BT)
