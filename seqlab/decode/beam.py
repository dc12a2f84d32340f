"""Beam search: the likeliest continuation of one prompt that a search of limited width finds.

The hypotheses of a step are the rows of one state batch, reordered by State.select. How tokens reach the model
stands in context.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seqlab.contracts import AutoregressiveModel
from seqlab.decode.context import check_prompt, next_logits, select_rows
from seqlab.decode.logits import log_softmax, mask_banned, top_indices
from seqlab.decode.rules import DecodingRules
from seqlab.errors import UsageError


@dataclass(frozen=True)
class Hypothesis:
    """A continuation without its prompt, and with the end symbol if it has one."""

    tokens: list[int]
    logprob: float  # under the model itself, banned tokens included
    score: float  # logprob / len(tokens) ** alpha
    finished: bool  # by the end symbol or by `stop`


@dataclass(frozen=True)
class BeamResult:
    """The text of a hypothesis; `score` is its log-probability divided by its length to the power length_penalty."""

    text: str
    tokens: list[int]
    logprob: float
    score: float


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
    source: Any = None,
) -> list[Hypothesis]:
    """The `best` continuations of at most `length` tokens, by score: finished ones first, unfinished ones after them.

    Each step keeps the `width` likeliest extensions of all hypotheses, the lower parent and then the lower id first
    among equals; those that finish are set aside. The search ends when no hypothesis that is left could still
    overtake the `best` finished ones, whatever it goes on with. Width 1 is greedy. `stop` is always asked about row 0
    and must depend on the tokens alone.
    """
    _check(width, length, length_penalty, n_best)
    rules = rules or DecodingRules()
    prompt = check_prompt(prompt)
    live: list[Hypothesis] = [Hypothesis([], 0.0, 0.0, False)]
    done: list[Hypothesis] = []
    state = None
    for _ in range(length):
        logits_WV, state = next_logits(model, [prompt + one.tokens for one in live], state, source, [0] * len(live))
        extended = _extend(live, logits_WV, width, length_penalty, rules)
        done = sorted([*done, *(one for _, one in extended if one.finished)], key=lambda one: -one.score)[:n_best]
        going = [(parent, one) for parent, one in extended if not one.finished]
        live = [one for _, one in going]
        if not live or (len(done) == n_best and live[0].logprob / length**length_penalty <= done[-1].score):
            break
        state = select_rows(state, [parent for parent, _ in going])
    return [*done, *live][:n_best]


def _extend(
    live: list[Hypothesis], logits_WV: np.ndarray, width: int, length_penalty: float, rules: DecodingRules
) -> list[tuple[int, Hypothesis]]:
    """The likeliest extensions by one token, each with the row of its parent."""
    possible_WV = np.isfinite(mask_banned(logits_WV, rules.banned))
    totals_WV = np.array([[one.logprob] for one in live]) + log_softmax(logits_WV)
    totals_N = np.where(possible_WV, totals_WV, -np.inf).ravel()
    extended: list[tuple[int, Hypothesis]] = []
    for place in top_indices(totals_N, width).tolist():
        if totals_N[place] == -np.inf:
            break
        parent, token = divmod(place, logits_WV.shape[1])
        tokens, logprob = [*live[parent].tokens, token], float(totals_N[place])
        score = logprob / len(tokens) ** length_penalty
        extended.append((parent, Hypothesis(tokens, logprob, score, rules.finishes(0, tokens))))
    return extended


def _check(width: int, length: int, length_penalty: float, n_best: int) -> None:
    if width < 1 or length < 1:
        raise UsageError(f"a beam of width {width} and length {length} was asked for: both must be 1 or more.")
    if not 1 <= n_best <= width:
        raise UsageError(f"the {n_best} best hypotheses of a beam of width {width} were asked for: give 1 to {width}.")
    if not 0 <= length_penalty <= 10:
        raise UsageError(f"the length exponent alpha is {length_penalty}: give a number from 0 to 10, such as 0.65.")
