"""Checks of scoring: every token counts once, a recount gives the same, and so does a second run."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from seqlab.audit.result import check
from seqlab.audit.tolerance import MEAN_TOLERANCE, format_deviation, largest, within_tolerance
from seqlab.contracts import State, TextScores
from seqlab.data.text.split import SplitText
from seqlab.data.text.tokens import TokenSplit
from seqlab.models.token_model import TokenModel
from seqlab.tasks.language import CARRIED_AT_ONCE
from seqlab.tasks.masked import PASSES
from seqlab.tasks.task import Task
from seqlab.tasks.text import TextTask

MAX_LOGITS = 1 << 28  # a split with more is counted from its beginning only
EXACT = 1e-9
COARSE, TOKEN_CHARACTERS = 0.01, 8  # relative; characters of a token that is context only
MIN_TOKENS = 400  # enough that documents of different lengths are padded together
CHUNK = 96  # tokens per pass when the recount carries a state; not a divisor of the task's own chunk


class FixedDistribution(nn.Module):
    """Predicts the same distribution everywhere, with a different probability for each token, so that a sum of nats
    shows which tokens were counted."""

    def __init__(self, model: TokenModel):
        super().__init__()
        self.vocab_size, self.backbone = model.vocab_size, model.backbone
        self.start_limited = model.start_limited
        self.logits_V = torch.linspace(0, 3, model.vocab_size, dtype=torch.float64)

    def forward(self, tokens_BT: Tensor, state: Any = None, mask_BT: Tensor | None = None) -> tuple[Tensor, None]:
        return self.logits_V.to(tokens_BT.device).expand(*tokens_BT.shape, -1), None

    def nats(self, targets_N: np.ndarray) -> np.ndarray:
        return -self.logits_V.log_softmax(0).numpy()[targets_N]


@check("evaluation counts every token once")
def counted_once(task: TextTask, model: TokenModel) -> tuple[bool, str]:
    """The task's own scoring of every held-out split, of a model whose nats tell which tokens were counted."""
    fixed = FixedDistribution(model)
    right, wrong = [], []
    for name, mode in product(_held_out(task), task.modes):
        split, targets = task.splits[name], _count_targets(task.splits[name])
        limit = None if targets * model.vocab_size <= MAX_LOGITS else MAX_LOGITS // model.vocab_size
        scores = task.score(cast(TokenModel, fixed), name, mode, limit)
        expected = targets if limit is None else _count_started(split, _unit(task, model, mode), limit)
        if not scores.tokens == expected == round(scores.tokens_by_position_T.sum()):
            wrong.append(f"{name}, {mode}: {scores.tokens:,} scored, expected {expected:,}")
        elif not _deviation(scores, fixed.nats(_targets(split, scores.tokens))) <= EXACT:
            wrong.append(f"{name}, {mode}: {expected:,} scored, but not each one once")
        else:
            right.append(f"{name}, {mode}: {expected:,}")
    return not wrong, "; ".join(wrong or right)


@check("evaluation equals an independent recount")
@torch.inference_mode()
def recount(task: TextTask, model: TokenModel) -> tuple[bool, str]:
    """The beginning of every held-out split, one window at a time without padding; in nats per token."""

    def measure(model: TokenModel) -> float:
        deviations: list[float] = []
        for name, mode in product(_held_out(task), task.modes):
            scores = task.score(model, name, mode, _limit(task, mode))
            deviations.append(_deviation(scores, _recounted_nats(task, model, name, mode, scores.tokens)))
        return largest(deviations)

    return within_tolerance(model, measure, MEAN_TOLERANCE)


@check("the metric equals an independent count")
@torch.inference_mode()
def metric(task: TextTask, model: TokenModel, text: SplitText) -> tuple[bool, str]:
    """Recounted nats over the characters of the text itself, against what tables show and what verdicts follow from.

    Characters are counted with the first token of each document, which is context only: hence the tolerance."""
    results = [_judge_metric(task, model, text, name) for name in _held_out(task)]
    return all(passed for passed, _ in results), "; ".join(detail for _, detail in results)


def _judge_metric(task: TextTask, model: TokenModel, text: SplitText, name: str) -> tuple[bool, str]:
    mode, split = task.mode, task.splits[name]
    scores = task.score(model, name, mode, _limit(task, mode))
    nats = float(_recounted_nats(task, model, name, mode, scores.tokens).sum() + np.sum(scores.spelling_U))
    whole, targets = sum(map(len, text.blocks(name))), _count_targets(split)
    expected = nats / (whole * scores.tokens / targets)
    shown = task.metrics(scores)["bits_per_char"] * np.log(2)
    judged = float(task.metric.value(task.unit_sums(scores).sums_UK.sum(0)))
    allowed = COARSE + TOKEN_CHARACTERS * len(_documents(split)) / whole
    passed = max(abs(shown / expected - 1), abs(judged / expected - 1)) <= allowed
    if name == "test" and passed:
        return True, f"test: the same over {scores.tokens:,} tokens"  # to print it would be a look at it
    part = f", the first {scores.tokens:,} tokens" if scores.tokens < targets else ""
    counted = f"{name}{part}: {expected:.3f} nats per character counted, {shown:.3f} shown, {judged:.3f} judged"
    near = f" (the first token is read and not scored, so up to {allowed:.1%} apart is equal)" if passed else ""
    return passed, f"{counted}{near if f'{expected:.3f}' != f'{shown:.3f}' else ''}"


def _held_out(task: TextTask) -> list[str]:
    return [name for name in task.splits if name != "train"]


@check("scored twice, scored the same")
def scored_twice(task: Task, model: Any) -> tuple[bool, str]:
    """Two runs of scoring agree to the bit."""
    differences: list[float] = []
    for mode in task.modes:
        limit = _limit(task, mode) if isinstance(task, TextTask) else MIN_TOKENS
        first, second = (task.score(model, "validation", mode, limit) for _ in range(2))
        differences.append(float(np.abs(first.nats_U - second.nats_U).max()))
    return largest(differences) == 0, f"largest difference: {format_deviation(largest(differences))} nats"


def _limit(task: TextTask, mode: str) -> int:
    """Several windows or short documents; with a carried state, more than one chunk of the task."""
    return max(3 * task.settings.window, MIN_TOKENS) if mode == "window" else CARRIED_AT_ONCE + 1


def _unit(task: TextTask, model: TokenModel, mode: str) -> int:
    """The number of targets that are scored together, at most."""
    if mode == "window":
        return task.settings.window
    return CARRIED_AT_ONCE if model.backbone.context is None else max(1, model.backbone.context // 2)


def _count_started(split: TokenSplit, unit: int, limit: int) -> int:
    """The number of targets in the units that begin within the first `limit` tokens."""
    started = ((at, end) for first, end in _documents(split) for at in range(first, min(end - 1, limit), unit))
    return sum(min(unit, end - 1 - at) for at, end in started)


def _deviation(scores: TextScores, nats_N: np.ndarray) -> float:
    """The largest difference of a unit from the sum of its targets, per token; infinite if their numbers differ."""
    ends_U = np.cumsum(scores.tokens_U)
    if ends_U[-1] > len(nats_N) or (scores.tokens_U < 1).any():
        return float("inf")
    sums_U = np.add.reduceat(nats_N[: ends_U[-1]], ends_U - scores.tokens_U)
    return float((np.abs(sums_U - scores.nats_U) / scores.tokens_U).max())


def _documents(split: TokenSplit) -> list[tuple[int, int]]:
    """The start and end of each document; a stream is one document."""
    return list(pairwise(split.document_starts().tolist()))


def _count_targets(split: TokenSplit) -> int:
    return len(split) - len(_documents(split))


def _targets(split: TokenSplit, count: int) -> np.ndarray:
    """The first tokens, without the first of each document."""
    ids_N = split.read(0, count + len(_documents(split)))
    return np.delete(ids_N, [first for first, _ in _documents(split) if first < len(ids_N)])[:count]


def _recounted_nats(task: TextTask, model: TokenModel, name: str, mode: str, count: int) -> np.ndarray:
    """The nats of the first `count` targets of a split, by the definition of the mode."""
    split, unit = task.splits[name], _unit(task, model, mode)
    if not task.generates:
        windows = _masked(model, split, unit)
    elif mode == "window":
        windows = _windows(model, split, unit, 0, unit)
    elif model.backbone.context is not None:
        windows = _windows(model, split, unit, unit, model.backbone.context)
    else:
        windows = _carried(model, split, task.settings.window)
    nats, counted = [np.empty(0)], 0
    for nats_T in windows:
        nats.append(nats_T)
        counted += len(nats_T)
        if counted >= count:
            break
    return np.concatenate(nats)[:count]


def _windows(model: TokenModel, split: TokenSplit, length: int, before: int, context: int) -> Iterator[np.ndarray]:
    """Every `length` targets from a fresh state, after up to `before` tokens, as far as the context allows."""
    for first, end in _documents(split):
        for at in range(first, end - 1, length):
            last = min(at + length, end - 1)
            seen = 0 if at == first else min(before, context - (last - at))
            yield _nats(model, split.read(at - seen, last + 1), None)[0][seen:]


def _carried(model: TokenModel, split: TokenSplit, window: int) -> Iterator[np.ndarray]:
    """Each document from its beginning; attention sees at most a window."""
    for first, end in _documents(split):
        state = model.start_limited(1, window)
        for at in range(first, end - 1, CHUNK):
            nats_T, state = _nats(model, split.read(at, min(at + CHUNK + 1, end)), state)
            yield nats_T


def _nats(model: TokenModel, ids_T: np.ndarray, state: State | None) -> tuple[np.ndarray, State]:
    tokens_1T = torch.from_numpy(ids_T)[None].to(next(model.parameters()).device)
    logits_1TV, after = model(tokens_1T[:, :-1], state)
    return _target_nats(logits_1TV[0], tokens_1T[0, 1:]), after


def _masked(model: TokenModel, split: TokenSplit, window: int) -> Iterator[np.ndarray]:
    """Windows in which every PASSES-th token is masked, until each one was masked once."""
    for first, end in _documents(split):
        for at in range(first, end - 1, window):
            ids_T = torch.from_numpy(split.read(at + 1, min(at + window + 1, end))).to(next(model.parameters()).device)
            nats_T = np.empty(len(ids_T))
            for turn in range(min(PASSES, len(ids_T))):
                hidden_T = ids_T.clone()
                hidden_T[turn::PASSES] = model.vocab_size
                logits_1TV, _ = model(hidden_T[None])
                nats_T[turn::PASSES] = _target_nats(logits_1TV[0], ids_T)[turn::PASSES]
            yield nats_T


def _target_nats(logits_TV: Tensor, targets_T: Tensor) -> np.ndarray:
    return -logits_TV.double().log_softmax(1).gather(1, targets_T[:, None])[:, 0].cpu().numpy()
