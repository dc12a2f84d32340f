"""Beam search: the most probable continuation of one prompt that a search of limited width finds.

The hypotheses of a step are the rows of one batched state, reordered by State.select. context.py feeds their tokens to
the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from seqlab.contracts import AutoregressiveModel, TensorTree
from seqlab.decode.context import check_prompt, next_logits, select_rows
from seqlab.decode.logits import log_softmax, mask_banned, top_indices
from seqlab.decode.rules import DecodingRules
from seqlab.errors import UsageError


@dataclass(frozen=True)
class Hypothesis:
    """A continuation without its prompt, including the end token if there is one."""

    tokens: list[int]
    logprob: float  # of the model itself, banned tokens included
    score: float  # logprob / len(tokens) ** length_penalty
    finished: bool  # by the end token or by `stop`


@dataclass(frozen=True)
class BeamResult:
    """The text of a hypothesis; `score` is its log-probability divided by its length to the power length_penalty."""

    text: str
    tokens: list[int]
    logprob: float
    score: float
    finished: bool  # by the end token, not cut off at the longest allowed length


@torch.inference_mode()
def beam_search(
    model: AutoregressiveModel,
    prompt: Sequence[int],
    width: int,
    length: int,
    *,
    length_penalty: float = 0.0,
    n_best: int = 1,
    rules: DecodingRules | None = None,
    source: TensorTree | None = None,
) -> list[Hypothesis]:
    """The `n_best` continuations of at most `length` tokens, by score.

    Each step keeps the `width` most probable extensions of all hypotheses; ties go to the lower parent, then to the
    lower id. Finished hypotheses are set aside. The search ends when no unfinished one can still overtake the `n_best`
    finished ones. What is cut off at `length` competes by its score too: otherwise any early end would beat the
    beginning of a longer text. Width 1 is greedy. `stop` is always called with row 0 and must depend on the tokens
    alone.
    """
    _check(width, length, length_penalty, n_best)
    rules = rules or DecodingRules()
    prompt = check_prompt(prompt)
    active: list[Hypothesis] = [Hypothesis([], 0.0, 0.0, False)]
    finished: list[Hypothesis] = []
    state = None
    for _ in range(length):
        sequences = [prompt + hypothesis.tokens for hypothesis in active]
        logits_WV, state = next_logits(model, sequences, state, source, [0] * len(active))
        extended = _extend(active, logits_WV, width, length_penalty, rules)
        finished += [hypothesis for _, hypothesis in extended if hypothesis.finished]
        finished = sorted(finished, key=lambda hypothesis: -hypothesis.score)[:n_best]
        parents = [parent for parent, hypothesis in extended if not hypothesis.finished]
        active = [hypothesis for _, hypothesis in extended if not hypothesis.finished]
        if not active:
            break
        if len(finished) == n_best and active[0].logprob / length**length_penalty <= finished[-1].score:
            break
        state = select_rows(state, parents)
    return sorted([*finished, *active], key=lambda hypothesis: -hypothesis.score)[:n_best]


def _extend(
    active: list[Hypothesis], logits_WV: np.ndarray, width: int, length_penalty: float, rules: DecodingRules
) -> list[tuple[int, Hypothesis]]:
    """The most probable extensions by one token, each with the row of its parent."""
    possible_WV = np.isfinite(mask_banned(logits_WV, rules.banned))
    totals_WV = np.array([[hypothesis.logprob] for hypothesis in active]) + log_softmax(logits_WV)
    totals_N = np.where(possible_WV, totals_WV, -np.inf).ravel()
    extended: list[tuple[int, Hypothesis]] = []
    for index in top_indices(totals_N, width).tolist():
        if totals_N[index] == -np.inf:
            break
        parent, token = divmod(index, logits_WV.shape[1])
        tokens, logprob = [*active[parent].tokens, token], float(totals_N[index])
        score = logprob / len(tokens) ** length_penalty
        extended.append((parent, Hypothesis(tokens, logprob, score, rules.finishes(0, tokens))))
    return extended


def _check(width: int, length: int, length_penalty: float, n_best: int) -> None:
    if width < 1 or length < 1:
        raise UsageError(f"the beam has width {width} and length {length}: both must be 1 or more.")
    if not isinstance(n_best, int) or not 1 <= n_best <= width:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"n_best is {n_best!r} and the beam width {width}: give n_best from 1 to {width}.")
    if not isinstance(length_penalty, int | float) or not 0 <= length_penalty <= 10:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"length_penalty is {length_penalty!r}: give a number from 0 to 10, such as 0.65.")
