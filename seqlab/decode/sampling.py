"""From logits to one token per row: temperature, top-k, top-p, repetition penalty, greedy.

Everything is computed in float64, and every sum runs from left to right, so the compiled engine can choose the same
tokens (kernels/sampling.py). generate.py calls `sample` once per position.
"""

from collections.abc import Collection, Sequence

import numpy as np
from pydantic import Field

from seqlab.config import Settings
from seqlab.decode.logits import mask_banned, top_indices


class SamplingSettings(Settings):
    temperature: float = Field(default=1.0, ge=0, allow_inf_nan=False, description="divides the logits; 0 is greedy")
    top_k: int | None = Field(default=None, ge=1, description="sample from the k most probable tokens")
    top_p: float | None = Field(
        default=None, gt=0, le=1, allow_inf_nan=False, description="sample from the most probable tokens that sum to p"
    )
    repetition_penalty: float = Field(
        default=1.0, gt=0, allow_inf_nan=False, description="above 1: tokens in the text become less probable"
    )
    seed: int = Field(default=0, ge=0, lt=2**63)


def sample(
    logits_BV: np.ndarray,
    settings: SamplingSettings,
    uniforms_B: np.ndarray,
    seen: Sequence[Collection[int]] | None = None,
    banned: Sequence[int] = (),
) -> np.ndarray:
    """One token per row, given a uniform number in [0, 1) per row. `seen` holds the tokens of each row's text so far.

    In this order:

    1. banned tokens get the logit minus infinity;
    2. the logits of seen tokens are divided by the repetition penalty if positive, else multiplied by it
       (Keskar et al. 2019, CTRL);
    3. at temperature 0 the largest logit is chosen, the lowest id among equals, and nothing further happens;
    4. weights: the largest logit is subtracted, the result divided by the temperature and exponentiated;
    5. top-k keeps the k largest logits, lower ids first among equals;
    6. top-p keeps, of those, the fewest whose weights reach p times their sum, taken from the largest logit down,
       lower ids first among equals (1 keeps all);
    7. the kept weights are summed in the order of ids: the token is the first whose sum exceeds the uniform number
       times the whole.
    """
    scores_BV = mask_banned(logits_BV, banned)
    if seen is not None and settings.repetition_penalty != 1:
        for scores_V, tokens in zip(scores_BV, seen, strict=True):
            _penalize(scores_V, list(tokens), settings.repetition_penalty)
    if settings.temperature == 0:
        return scores_BV.argmax(axis=1)
    with np.errstate(over="ignore"):  # a tiny temperature: all but the largest become -inf
        weights_BV = np.exp((scores_BV - scores_BV.max(axis=1, keepdims=True)) / settings.temperature)
    if settings.top_k is not None or (settings.top_p is not None and settings.top_p < 1):
        for scores_V, weights_V in zip(scores_BV, weights_BV, strict=True):
            _filter(scores_V, weights_V, settings)
    sums_BV = weights_BV.cumsum(axis=1)
    targets_B = uniforms_B * sums_BV[:, -1]
    return (sums_BV <= targets_B[:, None]).sum(axis=1)


def _penalize(scores_V: np.ndarray, tokens: list[int], penalty: float) -> None:
    with np.errstate(over="ignore"):
        scores = scores_V[tokens]
        scores_V[tokens] = np.where(scores > 0, scores / penalty, scores * penalty)


def _filter(scores_V: np.ndarray, weights_V: np.ndarray, settings: SamplingSettings) -> None:
    """Set the weights of tokens outside top-k and top-p to zero."""
    order_K = top_indices(scores_V, settings.top_k or len(scores_V))
    if settings.top_p is not None and settings.top_p < 1:
        sums_K = weights_V[order_K].cumsum()
        order_K = order_K[: sums_K.searchsorted(settings.top_p * sums_K[-1]) + 1]
    dropped_V = np.ones(len(weights_V), bool)
    dropped_V[order_K] = False
    weights_V[dropped_V] = 0
