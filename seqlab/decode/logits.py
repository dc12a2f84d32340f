"""Operations on logits that sampling and beam search share, in float64 on the CPU."""

from collections.abc import Sequence

import numpy as np

from seqlab.errors import DataError, UsageError


def mask_banned(logits_BV: np.ndarray, banned: Sequence[int]) -> np.ndarray:
    """A copy with minus infinity for banned tokens; UsageError if no token is left."""
    scores_BV = logits_BV.astype(np.float64)
    assert all(0 <= token < scores_BV.shape[1] for token in banned), f"banned {banned} of {scores_BV.shape[1]} tokens"
    scores_BV[:, list(banned)] = -np.inf
    largest_B = scores_BV.max(axis=1)  # NaN if any logit is
    if np.isneginf(largest_B).any():
        raise no_token_left()
    if not np.isfinite(largest_B).all():
        raise not_finite()
    return scores_BV


def no_token_left() -> UsageError:
    return UsageError("every token is banned or impossible: allow at least one token.")


def not_finite() -> DataError:
    return DataError("the model's logits are not finite, so no token can be chosen: its weights are damaged.")


def log_softmax(logits_BV: np.ndarray) -> np.ndarray:
    """The model's own log-probabilities: temperature 1, nothing banned."""
    shifted_BV = logits_BV.astype(np.float64)
    shifted_BV -= shifted_BV.max(axis=1, keepdims=True)
    return shifted_BV - np.log(np.exp(shifted_BV).sum(axis=1, keepdims=True))


def top_indices(values_N: np.ndarray, count: int) -> np.ndarray:
    """Indices of the `count` largest values, largest first; ties go to the lower index."""
    count = min(count, len(values_N))
    threshold = np.partition(values_N, -count)[-count]  # linear time: only values above it are sorted
    indices_M = np.flatnonzero(values_N >= threshold)
    return indices_M[np.argsort(-values_N[indices_M], kind="stable")[:count]]
