"""Language modelling: predict the next token."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.contracts import Batch, Loss, Scores, State
from seqlab.data.batches import NOT_SCORED, Batches, Lines, Rows, Stream, Windows, padded, pieces
from seqlab.data.tokens import TokenPart
from seqlab.models.language import LanguageModel
from seqlab.tasks.language_settings import LanguageSettings

SCORED_AT_ONCE = 1 << 25  # logits of one forward pass when scoring
CARRIED_AT_ONCE = 1024  # tokens per forward pass when the state is carried through a text


class LanguageTask:
    """Next-token prediction on the parts of one corpus."""

    def __init__(self, settings: LanguageSettings, parts: dict[str, TokenPart], unknown: int | None):
        self.settings = settings
        self.parts = parts
        self.unknown = unknown
        self._batches: dict[str, Batches] = {name: make_batches(settings, part) for name, part in parts.items()}

    @property
    def epoch(self) -> int:
        """Steps in one pass over the training text."""
        return self._batches["train"].epoch

    def batch(self, split: str, seed: int, index: int) -> Batch:
        return as_batch(self._batches[split].rows(seed, index))

    def loss(self, model: LanguageModel, batch: Batch, carry: State | None, step: int) -> Loss:
        logits_BTV, after = model(batch.inputs_BT, None if batch.fresh else carry, batch.mask_BT)
        total = _nats(logits_BTV, batch.targets_BT, "sum")
        count = batch.targets_BT.numel() if batch.mask_BT is None else int(batch.mask_BT.sum())
        return Loss(total, count, after.detach() if self.settings.batching == "stream" else None)

    @torch.inference_mode()
    def score(self, model: LanguageModel, split: str, context: str = "window", limit: int | None = None) -> Scores:
        """Every token but each document's first, exactly once; units are windows, or with `carry` stretches of text.

        With a `limit`, only about that many tokens from the part's beginning."""
        tally = Tally(self.parts[split], self.unknown, context)
        if context == "window":
            _score_windows(model, self.parts[split], self.settings.window, tally, limit)
        else:
            _score_carrying(model, self.parts[split], self.settings.window, tally, limit)
        return tally.scores()


def make_batches(settings: LanguageSettings, part: TokenPart) -> Batches:
    if part.facts.documents > 1:
        return Lines(part, settings.batch, settings.window)
    settings = fit_sizes(settings, len(part))
    kind = Stream if settings.batching == "stream" else Windows
    return kind(part, settings.batch, settings.window)


def fit_sizes(settings: LanguageSettings, tokens: int) -> LanguageSettings:
    """The same, or a smaller window and batch where the text is shorter than one batch of windows."""
    if tokens > settings.batch * settings.window:
        return settings
    window = max(1, min(settings.window, tokens // 8, tokens - 1))
    return settings.model_copy(update={"window": window, "batch": max(1, min(settings.batch, (tokens - 1) // window))})


def as_batch(rows: Rows) -> Batch:
    mask_BT = None if rows.mask_BT is None else torch.from_numpy(rows.mask_BT)
    return Batch(torch.from_numpy(rows.inputs_BT), torch.from_numpy(rows.targets_BT), mask_BT, rows.fresh)


def _nats(logits_BTV: Tensor, targets_BT: Tensor, reduction: str) -> Tensor:
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


def _run(model: LanguageModel, rows: Rows, state: State | None) -> tuple[np.ndarray, State]:
    batch = as_batch(rows).to(next(model.parameters()).device)
    logits_BTV, after = model(batch.inputs_BT, state, batch.mask_BT)
    return _nats(logits_BTV, batch.targets_BT, "none").view(rows.targets_BT.shape).cpu().numpy(), after


def batch_size(model: LanguageModel, window: int) -> int:
    """Windows per forward pass, so that large vocabularies do not fill the memory."""
    return max(1, min(64, SCORED_AT_ONCE // (window * model.vocabulary)))


def _within(part: TokenPart, window: int, limit: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The part's pieces, or those that begin within its first `limit` tokens."""
    cut = pieces(part, window)
    last = len(cut[0]) if limit is None else int(np.searchsorted(cut[0], limit))
    return cut[0][:last], cut[1][:last], cut[2][:last]


def _score_windows(model: LanguageModel, part: TokenPart, window: int, tally: Tally, limit: int | None) -> None:
    """Windows laid end to end, each with a fresh state; those of one length go together."""
    firsts_P, lengths_P, _ = _within(part, window, limit)
    order_P = np.argsort(lengths_P, kind="stable")
    for at in range(0, len(order_P), batch_size(model, window)):
        units_B = order_P[at : at + batch_size(model, window)]
        rows = padded(part, firsts_P[units_B], lengths_P[units_B])
        tally.add(units_B, _run(model, rows, None)[0], rows.targets_BT)


def _score_carrying(model: LanguageModel, part: TokenPart, window: int, tally: Tally, limit: int | None) -> None:
    """Each document in one pass, its state carried; where attention has an end, in windows that overlap by half."""
    if model.backbone.context is not None:
        _score_overlapping(model, part, model.backbone.context, tally, limit)
        return
    with model.backbone.limited_to(window):
        _score_chunks(model, part, tally, limit)


def _score_overlapping(model: LanguageModel, part: TokenPart, context: int, tally: Tally, limit: int | None) -> None:
    """Every piece of half a context with the half before it in view, of which only the new half is scored."""
    half = max(1, context // 2)
    firsts_P, lengths_P, document_P = _within(part, half, limit)
    opens_P = np.diff(document_P, prepend=-1) != 0
    seen_P = np.where(opens_P, 0, np.minimum(half, context - lengths_P))
    for seen in np.unique(seen_P):
        units_N = np.flatnonzero(seen_P == seen)
        for at in range(0, len(units_N), batch_size(model, context)):
            units_B = units_N[at : at + batch_size(model, context)]
            rows = padded(part, firsts_P[units_B] - seen, lengths_P[units_B] + seen)
            tally.add(units_B, _run(model, rows, None)[0][:, seen:], rows.targets_BT[:, seen:])


def _score_chunks(model: LanguageModel, part: TokenPart, tally: Tally, limit: int | None) -> None:
    state: State | None = None
    for unit, rows, fresh in _chunks(part, limit):
        nats_1T, state = _run(model, rows, None if fresh else state)
        tally.add(np.array([unit]), nats_1T, rows.targets_BT)


def _chunks(part: TokenPart, limit: int | None) -> Iterator[tuple[int, Rows, bool]]:
    firsts_P, lengths_P, document_P = _within(part, CARRIED_AT_ONCE, limit)
    for unit, (first, length, document) in enumerate(zip(firsts_P, lengths_P, document_P, strict=True)):
        rows = padded(part, np.array([first]), np.array([length]))
        yield unit, replace(rows, fresh=False), unit == 0 or document != document_P[unit - 1]
