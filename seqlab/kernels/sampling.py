"""`decode.sampling.sample` for one row, compiled: the same operations in the same order.

Exponentials have float32 precision, sums float64. For top-k and top-p a heap yields tokens from the largest logit down,
so only the tokens that are kept get sorted.
"""

import math

import numba
import numpy as np

from seqlab.kernels import KERNEL
from seqlab.kernels.elementary import LARGEST, exp
from seqlab.kernels.uniform import splitmix64

OK, NOT_FINITE, NO_TOKEN_LEFT = 0, 1, 2  # status of a choice

_splitmix64 = numba.njit(**KERNEL)(splitmix64)


@numba.njit(**KERNEL)
def uniform(seed, sequence, position):
    word = _splitmix64(_splitmix64(np.uint64(seed), np.uint64(sequence)), np.uint64(position))
    return float(word >> np.uint64(11)) * 2.0**-53


@numba.njit(**KERNEL)
def _exp_weights(scores_V, largest, temperature, weights_V):
    """exp((score - largest) / temperature); zero if too small for a float32."""
    for token in range(len(scores_V)):
        power = (float(scores_V[token]) - largest) / temperature
        weights_V[token] = exp(np.float32(power)) if power > -LARGEST else 0.0


@numba.njit(**KERNEL)
def _sum(weights_V):
    total = 0.0
    for token in range(len(weights_V)):
        total += weights_V[token]
    return total


@numba.njit(**KERNEL)
def _before(scores_V, a, b):
    """Whether token a ranks before b: larger score, then lower id."""
    return scores_V[a] > scores_V[b] or (scores_V[a] == scores_V[b] and a < b)


@numba.njit(**KERNEL)
def _sift_down(heap_V, size, at, scores_V):
    """Restore the heap below index `at`."""
    token = heap_V[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(scores_V, heap_V[child + 1], heap_V[child]):
            child += 1
        if not _before(scores_V, heap_V[child], token):
            break
        heap_V[at] = heap_V[child]
        at = child
    heap_V[at] = token


@numba.njit(**KERNEL)
def _apply_top_k_top_p(scores_V, weights_V, heap_V, top_k, top_p):
    """Set the weights of tokens outside top-k and top-p to zero."""
    V = len(scores_V)
    for token in range(V):
        heap_V[token] = token
    for at in range(V // 2 - 1, -1, -1):
        _sift_down(heap_V, V, at, scores_V)
    most = min(top_k, V)
    whole = _sum(weights_V) if top_k >= V else 0.0  # a plain sum needs no sorting
    taken, reached, size = 0, 0.0, V
    while taken < most and (top_k < V or reached < top_p * whole):
        size -= 1  # the token moves behind the shrunken heap
        heap_V[0], heap_V[size] = heap_V[size], heap_V[0]
        _sift_down(heap_V, size, 0, scores_V)
        reached += weights_V[heap_V[size]]
        taken += 1
    if top_k < V and top_p < 1:
        whole, reached, kept = reached, 0.0, 0
        while kept < taken and reached < top_p * whole:
            reached += weights_V[heap_V[V - 1 - kept]]
            kept += 1
        taken = kept
    for at in range(V - taken):
        weights_V[heap_V[at]] = 0.0


@numba.njit(**KERNEL)
def sample(logits_V, sampling, seen_V, uniform_number, scores_V, weights_V, heap_V):
    """A token, its log-probability under the model itself, and the status; the last three arrays are scratch space."""
    V, penalty = len(logits_V), sampling.penalty
    largest, highest, best = -math.inf, -math.inf, 0
    for token in range(V):
        score = float(logits_V[token])
        if not score < math.inf:  # catches NaN, too
            return 0, 0.0, NOT_FINITE
        highest = max(highest, score)
        if sampling.banned_V[token]:
            score = -math.inf
        elif seen_V[token] and penalty != 1.0:
            score = score / penalty if score > 0 else score * penalty
        scores_V[token] = score
        if score > largest:
            largest, best = score, token
    if largest == -math.inf:
        return 0, 0.0, NO_TOKEN_LEFT
    _exp_weights(logits_V, highest, 1.0, weights_V)
    logprob = -highest - math.log(_sum(weights_V))
    if sampling.temperature == 0.0:
        return best, float(logits_V[best]) + logprob, OK
    _exp_weights(scores_V, largest, sampling.temperature, weights_V)
    if sampling.top_k < V or sampling.top_p < 1:
        _apply_top_k_top_p(scores_V, weights_V, heap_V, sampling.top_k, sampling.top_p)
    target = uniform_number * _sum(weights_V)
    reached = 0.0
    for token in range(V):
        reached += weights_V[token]
        if reached > target:
            return token, float(logits_V[token]) + logprob, OK
    return best, float(logits_V[best]) + logprob, OK
