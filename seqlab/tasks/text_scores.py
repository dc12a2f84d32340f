"""The scores of running text: windows side by side, their losses, and the sums of these by unit."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.contracts import State, TextBatch, TextScores
from seqlab.data.batching import cut_by_count
from seqlab.data.text.batches import NOT_SCORED, TokenRows, cut_windows, pad_windows
from seqlab.data.text.tokens import TokenSplit
from seqlab.distributed.group import largest, sum_array
from seqlab.distributed.world import joined
from seqlab.models.token_model import TokenModel

SCORED_AT_ONCE = 1 << 25  # logits of one forward pass when scoring
COMPUTED_AT_ONCE = 1 << 26  # numbers in the layers of that pass


def as_batch(rows: TokenRows) -> TextBatch:
    mask_BT = None if rows.mask_BT is None else torch.from_numpy(rows.mask_BT)
    return TextBatch(torch.from_numpy(rows.inputs_BT), torch.from_numpy(rows.targets_BT), mask_BT, fresh=rows.fresh)


def token_nats(logits_BTV: Tensor, targets_BT: Tensor, reduction: str) -> Tensor:
    flat = logits_BTV.flatten(0, 1)
    return cross_entropy(flat, targets_BT.flatten(), ignore_index=NOT_SCORED, reduction=reduction)


class ScoreAccumulator:
    """The windows of a split, up to `limit` tokens, and the sums of their losses, unit by unit."""

    def __init__(self, split: TokenSplit, unknown: int | None, mode: str, limit: int | None):
        self.split, self.unknown, self.mode, self.limit = split, unknown, mode, limit
        self.units: dict[int, tuple[float, int]] = {}
        self.by_position = np.zeros((2, 0))
        self.unknown_sums = np.zeros(2)
        self.document_P = np.zeros(0, int)

    def pieces(self, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First token, length and document of every piece that begins within the first `limit` tokens."""
        firsts_P, lengths_P, self.document_P = cut_windows(self.split, length, self.limit)
        return firsts_P, lengths_P, self.document_P

    def windows(self, model: TokenModel, window: int) -> Iterator[tuple[np.ndarray, TokenRows]]:
        """The windows of the split, laid end to end, in batches of similar length: their numbers and their ids."""
        firsts_P, lengths_P, _ = self.pieces(window)
        batches = cut_by_count(np.argsort(lengths_P, kind="stable"), batch_size(model, window))
        for units_B in joined().part(batches):
            yield units_B, pad_windows(self.split, firsts_P[units_B], lengths_P[units_B])

    def _join(self) -> None:
        """Add what other processes have scored: other units, whose sums stay as they are."""
        if joined().size == 1:
            return
        sums_2U = np.zeros((2, len(self.document_P)))
        for unit, sums in self.units.items():
            sums_2U[:, unit] = sums
        self.units = {unit: (nats, int(count)) for unit, (nats, count) in enumerate(sum_array(sums_2U).T.tolist())}
        missing = largest([self.by_position.shape[1]])[0] - self.by_position.shape[1]
        self.by_position = sum_array(np.pad(self.by_position, ((0, 0), (0, missing))))
        self.unknown_sums = sum_array(self.unknown_sums)

    def add(self, units_B: np.ndarray, nats_BT: np.ndarray, targets_BT: np.ndarray) -> None:
        """Add the losses of these units; padding is left out."""
        kept_BT = targets_BT != NOT_SCORED
        nats_BT = np.where(kept_BT, nats_BT.astype(np.float64), 0.0)
        for unit, nats, count in zip(units_B, nats_BT.sum(1), kept_BT.sum(1), strict=True):
            before = self.units.get(int(unit), (0.0, 0))
            self.units[int(unit)] = (before[0] + nats, before[1] + int(count))
        missing = max(0, nats_BT.shape[1] - self.by_position.shape[1])
        self.by_position = np.pad(self.by_position, ((0, 0), (0, missing)))
        self.by_position[:, : nats_BT.shape[1]] += nats_BT.sum(0), kept_BT.sum(0)
        if self.unknown is not None:
            unknown_BT = targets_BT == self.unknown
            self.unknown_sums += (unknown_BT.sum(), nats_BT[unknown_BT].sum())

    def scores(self) -> TextScores:
        self._join()
        units = [self.units[unit] for unit in sorted(self.units)]
        tokens_U = np.array([count for _, count in units])
        characters, size = self.split.stats.text_size(int(tokens_U.sum()))
        return TextScores(
            nats_U=np.array([nats for nats, _ in units]),
            tokens_U=tokens_U,
            nats_by_position_T=self.by_position[0],
            tokens_by_position_T=self.by_position[1],
            characters=characters,
            bytes=size,
            unknown_tokens=int(self.unknown_sums[0]),
            unknown_nats=float(self.unknown_sums[1]),
            mode=self.mode,
            spelling_U=self.split.spelling_nats(tokens_U),
            segment_U=None if self.split.stats.by_lines else self.document_P[sorted(self.units)],
        )


def batch_size(model: TokenModel, window: int) -> int:
    """Windows per forward pass: fewer where logits or layers fill the memory, whatever batch the training fits."""
    layers = model.backbone.settings.layers
    numbers = model.backbone.width * (8 + 4 * layers)  # the inside of one layer, and states, which attention keeps
    return max(1, min(64, SCORED_AT_ONCE // (window * model.vocab_size), COMPUTED_AT_ONCE // (window * numbers)))


def score_rows(model: TokenModel, rows: TokenRows, state: State | None = None) -> tuple[np.ndarray, State]:
    """The loss of every target, and the state after them."""
    batch = as_batch(rows).to(next(model.parameters()).device)
    logits_BTV, after = model(batch.inputs_BT, state, batch.mask_BT)
    return token_nats(logits_BTV, batch.targets_BT, "none").view(rows.targets_BT.shape).cpu().numpy(), after
