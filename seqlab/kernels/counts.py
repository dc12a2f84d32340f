"""Lookups in a table of n-grams: the contexts that end at a token, and what they predict.

A context is a number: 0 for no tokens, and 1 + g for gram g. The grams that extend context c by one token are those
from `children_C[c]` to `children_C[c + 1]`, sorted by that token, so each order takes one binary search. The state of
a text is `contexts_K`: the contexts of its last 0, 1, ..., K - 1 tokens, NONE where the text has no such gram.
"""

import math

import numba
import numpy as np
from numba.extending import overload, register_jitable

from seqlab.kernels import KERNEL
from seqlab.kernels.grams import NONE, CountMixture

LEAST = np.float32(1e-30)  # of a probability, so that its logarithm is finite


@numba.njit(**KERNEL)
def advance(grams, contexts_K, token):
    """Read one token."""
    for k in range(len(contexts_K) - 1, 0, -1):
        shorter, longer = contexts_K[k - 1], NONE
        if shorter != NONE:
            first, end = grams.children_C[shorter], grams.children_C[shorter + 1]
            low, high = first, end
            while low < high:
                middle = (low + high) // 2
                if grams.tokens_G[middle] < token:
                    low = middle + 1
                else:
                    high = middle
            if low < end and grams.tokens_G[low] == token:
                longer = low + 1
        contexts_K[k] = longer


@numba.njit(**KERNEL)
def log_probabilities(grams, contexts_K, log_p_V):
    """Write ln p of every token, and return the length of the longest context that predicts anything.

    p(w | h) = value(h w) + backoff(h) p(w | h'), from the longest context to the empty one, then the uniform
    distribution."""
    V = len(log_p_V)
    for v in range(V):
        log_p_V[v] = 0.0
    longest, weight = 0, np.float32(1.0)
    for k in range(len(contexts_K) - 1, -1, -1):
        context = contexts_K[k]
        if context == NONE:
            continue
        first, end = grams.children_C[context], grams.children_C[context + 1]
        if first == end:
            continue
        longest = max(longest, k)
        for g in range(first, end):
            log_p_V[grams.tokens_G[g]] += weight * grams.values_G[g]
        weight *= grams.backoff_C[context]
    uniform = max(weight / np.float32(V), LEAST)
    for v in range(V):
        log_p_V[v] = math.log(log_p_V[v] + uniform)
    return longest


@numba.njit(parallel=True, nogil=True, **KERNEL)
def read_rows(grams, tokens_BT, lengths_B, contexts_BK, log_p_BTV, longest_BT):
    """Every token of every row: what is predicted after it, and the length of the context; advances the contexts.

    Positions behind a row's length stay as they are."""
    for b in numba.prange(len(tokens_BT)):
        for t in range(lengths_B[b]):
            advance(grams, contexts_BK[b], tokens_BT[b, t])
            longest_BT[b, t] = log_probabilities(grams, contexts_BK[b], log_p_BTV[b, t])


def read_token(mixture, contexts_K, token):
    """Compiled to `advance`, or to nothing without counts."""
    raise AssertionError("no counts for this mixture")


def mix_logits(mixture, contexts_K, logits_V, log_p_V):
    """Replace the logits of a network by those of the mixture (`mixing.mixture`); `log_p_V` is scratch space."""
    raise AssertionError("no counts for this mixture")


@register_jitable
def _mix_logits(mixture, contexts_K, logits_V, log_p_V):
    longest = log_probabilities(mixture.grams, contexts_K, log_p_V)
    alpha, beta = mixture.alpha_K[longest], mixture.beta_K[longest]
    for v in range(len(log_p_V)):
        logits_V[v] = alpha * logits_V[v] + beta * log_p_V[v]


def _has_counts(mixture) -> bool:
    return getattr(mixture, "instance_class", None) is CountMixture  # numba's type of a named tuple


@overload(read_token)
def _read_token_overload(mixture, contexts_K, token):
    if _has_counts(mixture):
        return lambda mixture, contexts_K, token: advance(mixture.grams, contexts_K, token)
    return lambda mixture, contexts_K, token: None


@overload(mix_logits)
def _mix_logits_overload(mixture, contexts_K, logits_V, log_p_V):
    if _has_counts(mixture):
        return lambda mixture, contexts_K, logits_V, log_p_V: _mix_logits(mixture, contexts_K, logits_V, log_p_V)
    return lambda mixture, contexts_K, logits_V, log_p_V: None
