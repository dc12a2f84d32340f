"""Checks of a task: that scoring counts every token once, gives what a plain count gives, and gives it again."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.audit.agreement import ALLOWED_MEAN, agree, in_words, largest
from seqlab.audit.result import check
from seqlab.contracts import State, TextScores
from seqlab.data.text.tokens import TokenSplit
from seqlab.models.token_model import TokenModel
from seqlab.tasks.language import CARRIED_AT_ONCE
from seqlab.tasks.masked import PASSES
from seqlab.tasks.task import Task
from seqlab.tasks.text import TextTask

COUNTED = 1 << 28  # logits of a text that is counted whole; of a longer one, the beginning
EXACT = 1e-9
SEVERAL = 400  # tokens, so that documents of different length are padded together
PIECE = 96  # tokens read at once when a state is carried by hand: no divisor of what the task reads at once


class KnownOdds(nn.Module):
    """Gives every token the same odds everywhere, another one to each, so that the sum tells which were counted."""

    def __init__(self, model: TokenModel):
        super().__init__()
        self.vocab_size, self.backbone = model.vocab_size, model.backbone
        self.logits_V = torch.linspace(0, 3, model.vocab_size, dtype=torch.float64)

    def forward(self, tokens_BT: Tensor, state: Any = None, mask_BT: Tensor | None = None) -> tuple[Tensor, None]:
        return self.logits_V.to(tokens_BT.device).expand(*tokens_BT.shape, -1), None

    def nats(self, targets_N: np.ndarray) -> np.ndarray:
        return -self.logits_V.log_softmax(0).numpy()[targets_N]


@check("evaluation counts every token once")
def counted_once(task: TextTask, model: TokenModel) -> tuple[bool, str]:
    """The real scoring of every held-out part, with odds from which it can be told what was counted."""
    odds = KnownOdds(model)
    held_out = [name for name in task.splits if name != "train"]
    right, wrong = [], []
    for name, mode in product(held_out, task.modes):
        part, targets_N = task.splits[name], _targets(task.splits[name])
        limit = None if len(targets_N) * model.vocab_size <= COUNTED else COUNTED // model.vocab_size
        scores = task.score(cast(TokenModel, odds), name, mode, limit)
        due = len(targets_N) if limit is None else _begun(part, _unit(task, model, mode), limit)
        if not scores.tokens == due == round(scores.tokens_by_position_T.sum()):
            wrong.append(f"{name}, {mode}: {scores.tokens:,} scored where there are {due:,}")
        elif not _off(scores, odds.nats(targets_N)) <= EXACT:
            wrong.append(f"{name}, {mode}: {due:,} scored, but not each once")
        else:
            right.append(f"{name}, {mode}: {due:,}")
    return not wrong, "; ".join(wrong or right)


@check("evaluation equals a count by hand")
@torch.inference_mode()
def by_hand(task: TextTask, model: TokenModel) -> tuple[bool, str]:
    """The beginning of the validation part: one window at a time, nothing padded, nats per token."""

    def measure(model: TokenModel) -> float:
        found: list[float] = []
        for mode in task.modes:
            scores = task.score(model, "validation", mode, _limit(task, mode))
            found.append(_off(scores, _nats_by_hand(task, model, mode, scores.tokens)))
        return largest(found)

    return agree(model, measure, ALLOWED_MEAN)


@check("scored twice, scored the same")
def scored_twice(task: Task, model: Any) -> tuple[bool, str]:
    """To the bit."""
    found: list[float] = []
    for mode in task.modes:
        limit = _limit(task, mode) if isinstance(task, TextTask) else SEVERAL
        first, second = (task.score(model, "validation", mode, limit) for _ in range(2))
        found.append(float(np.abs(first.nats_U - second.nats_U).max()))
    return largest(found) == 0, f"largest difference: {in_words(largest(found))} nats"


def _limit(task: TextTask, mode: str) -> int:
    """Several windows or short documents; with a carried state, past the end of what is read at once."""
    return max(3 * task.settings.window, SEVERAL) if mode == "window" else CARRIED_AT_ONCE + 1


def _unit(task: TextTask, model: TokenModel, mode: str) -> int:
    """The most targets that are scored together."""
    if mode == "window":
        return task.settings.window
    return CARRIED_AT_ONCE if model.backbone.context is None else max(1, model.backbone.context // 2)


def _begun(part: TokenSplit, unit: int, limit: int) -> int:
    """How many targets the units have that begin within the first `limit` tokens."""
    begun = ((at, end) for first, end in _documents(part) for at in range(first, min(end - 1, limit), unit))
    return sum(min(unit, end - 1 - at) for at, end in begun)


def _off(scores: TextScores, nats_N: np.ndarray) -> float:
    """How far a unit of text is from the sum of its targets, in nats per token; infinite if there are not as many."""
    ends_U = np.cumsum(scores.tokens_U)
    if ends_U[-1] > len(nats_N) or (scores.tokens_U < 1).any():
        return float("inf")
    sums_U = np.add.reduceat(nats_N[: ends_U[-1]], ends_U - scores.tokens_U)
    return float((np.abs(sums_U - scores.nats_U) / scores.tokens_U).max())


def _documents(part: TokenSplit) -> list[tuple[int, int]]:
    """First and last + 1 of each document; a stream is one."""
    return list(pairwise(part.document_starts().tolist())) if part.stats.documents > 1 else [(0, len(part))]


def _targets(part: TokenSplit) -> np.ndarray:
    """All tokens but the first of each document."""
    ids_N = part.read(0, len(part))
    return np.delete(ids_N, [first for first, _ in _documents(part)])


def _nats_by_hand(task: TextTask, model: TokenModel, mode: str, count: int) -> np.ndarray:
    """Of the first `count` targets, as the definition of the context reads."""
    part, unit = task.splits["validation"], _unit(task, model, mode)
    if not task.generates:
        pieces = _gaps(model, part, unit)
    elif mode == "window":
        pieces = _windows(model, part, unit, 0, unit)
    elif model.backbone.context is not None:
        pieces = _windows(model, part, unit, unit, model.backbone.context)
    else:
        pieces = _carried(model, part, task.settings.window)
    found, so_far = [np.empty(0)], 0
    for nats_T in pieces:
        found.append(nats_T)
        so_far += len(nats_T)
        if so_far >= count:
            break
    return np.concatenate(found)[:count]


def _windows(model: TokenModel, part: TokenSplit, length: int, before: int, most: int) -> Iterator[np.ndarray]:
    """Every `length` targets from a fresh state; `before` tokens stand before them, where `most` in all allow it."""
    for first, end in _documents(part):
        for at in range(first, end - 1, length):
            last = min(at + length, end - 1)
            seen = 0 if at == first else min(before, most - (last - at))
            yield _nats(model, part.read(at - seen, last + 1), None)[0][seen:]


def _carried(model: TokenModel, part: TokenSplit, window: int) -> Iterator[np.ndarray]:
    """Each document from its beginning; attention looks back no further than a window."""
    for first, end in _documents(part):
        state = model.backbone.start_limited(1, window)
        for at in range(first, end - 1, PIECE):
            nats_T, state = _nats(model, part.read(at, min(at + PIECE + 1, end)), state)
            yield nats_T


def _nats(model: TokenModel, ids_T: np.ndarray, state: State | None) -> tuple[np.ndarray, State]:
    tokens_1T = torch.from_numpy(ids_T)[None].to(next(model.parameters()).device)
    logits_1TV, after = model(tokens_1T[:, :-1], state)
    return _of(logits_1TV[0], tokens_1T[0, 1:]), after


def _gaps(model: TokenModel, part: TokenSplit, window: int) -> Iterator[np.ndarray]:
    """Windows in which every so many-th token is hidden, as often as it takes to hide each once."""
    for first, end in _documents(part):
        for at in range(first, end - 1, window):
            ids_T = torch.from_numpy(part.read(at + 1, min(at + window + 1, end))).to(next(model.parameters()).device)
            nats_T = np.empty(len(ids_T))
            for turn in range(min(PASSES, len(ids_T))):
                hidden_T = ids_T.clone()
                hidden_T[turn::PASSES] = model.vocab_size
                logits_1TV, _ = model(hidden_T[None])
                nats_T[turn::PASSES] = _of(logits_1TV[0], ids_T)[turn::PASSES]
            yield nats_T


def _of(logits_TV: Tensor, targets_T: Tensor) -> np.ndarray:
    return -logits_TV.double().log_softmax(1).gather(1, targets_T[:, None])[:, 0].cpu().numpy()
