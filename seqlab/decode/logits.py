"""What both decoders do with logits, in float64 on the CPU: forbid tokens, normalise, find the largest.

Read by sampling.py, generate.py and beam.py.
"""

from collections.abc import Sequence

import numpy as np

from seqlab.errors import DataError, UsageError


def mask_banned(logits_BV: np.ndarray, banned: Sequence[int]) -> np.ndarray:
    """A copy in which banned tokens have minus infinity; refused where nothing is left to choose from."""
    scores_BV = logits_BV.astype(np.float64)
    assert all(0 <= token < scores_BV.shape[1] for token in banned), f"banned {banned} of {scores_BV.shape[1]} tokens"
    scores_BV[:, list(banned)] = -np.inf
    largest_B = scores_BV.max(axis=1)  # not a number if any logit is
    if np.isneginf(largest_B).any():
        raise no_token_left()
    if not np.isfinite(largest_B).all():
        raise not_finite()
    return scores_BV


def no_token_left() -> UsageError:
    return UsageError("every token is banned or impossible: leave the model at least one that it can choose.")


def not_finite() -> DataError:
    return DataError("the model's logits are not finite, so no token can be chosen: its weights are damaged.")


def log_softmax(logits_BV: np.ndarray) -> np.ndarray:
    """The model's own log-probabilities: temperature 1, nothing banned."""
    shifted_BV = logits_BV.astype(np.float64)
    shifted_BV -= shifted_BV.max(axis=1, keepdims=True)
    return shifted_BV - np.log(np.exp(shifted_BV).sum(axis=1, keepdims=True))


def top_indices(values_N: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` largest values, the largest first, and the lower place first among equals."""
    count = min(count, len(values_N))
    threshold = np.partition(values_N, -count)[-count]  # a partition is linear: only what reaches it is sorted
    places_M = np.flatnonzero(values_N >= threshold)
    return places_M[np.argsort(-values_N[places_M], kind="stable")[:count]]
