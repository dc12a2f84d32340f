"""The token loop: prefill, decode step, sampling, over and over, without returning to Python.

Each architecture registers its own decode step (`implements_decode_step`): it updates the first `rows` rows of a state
in place by one token and returns the input of the output layer. Everything else is shared. No row depends on others.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload, register_jitable

from seqlab.kernels import KERNEL
from seqlab.kernels.counts import mix_logits, read_token
from seqlab.kernels.elementary import tanh
from seqlab.kernels.grams import CountMixture, NoMixture
from seqlab.kernels.linear import add_product
from seqlab.kernels.sampling import OK, sample, uniform


class PackedMatrix(NamedTuple):
    """A packed matrix: float32 with scales of 1, or int8."""

    w_NKC: np.ndarray
    scale_G: np.ndarray


class OutputLayer(NamedTuple):
    """From hidden vectors to logits; tied embeddings may need a projection (`narrow`) first. A `cap` of 0 is none.
    Counts may be mixed in (kernels/counts.py)."""

    narrow: PackedMatrix
    logits: PackedMatrix
    bias_V: np.ndarray
    cap: float
    mixture: CountMixture | NoMixture = NoMixture()


class PromptBatch(NamedTuple):
    """Prompts to prefill, the longest first."""

    tokens_BT: np.ndarray
    lengths_B: np.ndarray


class SamplingParameters(NamedTuple):
    temperature: float
    top_k: int
    top_p: float
    penalty: float
    seed: int
    banned_V: np.ndarray


def decode_step(weights, state, token_B, rows):
    """Compiled to the implementation for the class of `weights`."""
    raise AssertionError("no decode_step for these weights")


def implements_decode_step(weights_type: type) -> Callable[[Any], Any]:
    """Decorator: a function that is `decode_step` for this class of weights."""

    def register(step: Any) -> Any:
        step = register_jitable(step)

        @overload(decode_step)
        def implementation(weights, state, token_B, rows):
            if getattr(weights, "instance_class", None) is not weights_type:  # numba's type of a named tuple
                return None
            return lambda weights, state, token_B, rows: step(weights, state, token_B, rows)

        return step

    return register


@register_jitable
def copy_row(from_N, to_N):
    """A slice assignment without numba's shape check, which would take a third of the compile time."""
    for n in range(len(to_N)):
        to_N[n] = from_N[n]


@register_jitable
def product(matrix, x_BK, rows):
    """x W for the first `rows` rows, in a new array."""
    y_BG = np.zeros((rows, len(matrix.scale_G)), np.float32)
    add_product(matrix.w_NKC, matrix.scale_G, x_BK, y_BG, rows)
    return y_BG


@register_jitable
def affine(matrix, bias_G, x_BK, rows):
    """x W + b"""
    y_BG = np.empty((rows, len(matrix.scale_G)), np.float32)
    for b in range(rows):
        copy_row(bias_G, y_BG[b])
    add_product(matrix.w_NKC, matrix.scale_G, x_BK, y_BG, rows)
    return y_BG


@register_jitable
def output_logits(output, y_BH, rows):
    """Logits, followed by padding."""
    if len(output.narrow.w_NKC):
        y_BH = product(output.narrow, y_BH, rows)
    logits_BV = affine(output.logits, output.bias_V, y_BH, rows)
    if output.cap > 0:
        cap = np.float32(output.cap)
        for b in range(rows):
            for v in range(logits_BV.shape[1]):
                logits_BV[b, v] = cap * tanh(logits_BV[b, v] / cap)
    return logits_BV


@register_jitable
def _prefill(weights, mixture, state, contexts_BK, prompts_BT, lengths_B):
    rows = len(lengths_B)
    token_B = np.empty(rows, np.int64)
    for t in range(prompts_BT.shape[1]):
        while rows and lengths_B[rows - 1] <= t:
            rows -= 1
        for b in range(rows):
            token_B[b] = prompts_BT[b, t]
            read_token(mixture, contexts_BK[b], token_B[b])
        decode_step(weights, state, token_B, rows)


@register_jitable
def _next_logits(weights, output, state, contexts_BK, token_B, rows, log_p_V):
    """Read a token of each row: the logits after it, followed by padding."""
    logits_BV = output_logits(output, decode_step(weights, state, token_B, rows), rows)
    for b in range(rows):
        read_token(output.mixture, contexts_BK[b], token_B[b])
        mix_logits(output.mixture, contexts_BK[b], logits_BV[b], log_p_V)
    return logits_BV


@register_jitable
def _generate(
    weights, output, state, contexts_BK, token_B, sampling, sequence_B, position_B, seen_BV, tokens_BT,
    logprobs_BT,
):  # fmt: skip
    rows, V = seen_BV.shape
    scores_V, weights_V, heap_V = np.empty(V), np.empty(V), np.empty(V, np.int64)
    log_p_V = np.empty(V, np.float32)
    for t in range(tokens_BT.shape[1]):
        logits_BV = _next_logits(weights, output, state, contexts_BK, token_B, rows, log_p_V)
        for b in range(rows):
            uniform_number = uniform(sampling.seed, sequence_B[b], position_B[b] + t)
            token, logprob, status = sample(
                logits_BV[b, :V], sampling, seen_BV[b], uniform_number, scores_V, weights_V, heap_V
            )
            if status != OK:
                return status
            token_B[b] = tokens_BT[b, t] = token
            logprobs_BT[b, t] = logprob
            seen_BV[b, token] = True
    return OK


@numba.njit(nogil=True, **KERNEL)
def decode(
    weights, output, state, contexts_BK, prompts, token_B, logits_BV, sampling, sequence_B, position_B,
    seen_BV, tokens_BT, logprobs_BT,
):  # fmt: skip
    """All operations on a state in one function, because numba would take as long for each of them as for the whole.

    First the prompts are prefilled. If `logits_BV` has rows, it receives the logits after `token_B`. Then every row
    generates tokens until `tokens_BT` is full, where `token_B` is its last token, which the state has not seen. Returns
    the status of the last choice."""
    _prefill(weights, output.mixture, state, contexts_BK, prompts.tokens_BT, prompts.lengths_B)
    if len(logits_BV):
        rows, V = logits_BV.shape
        log_p_V = np.empty(V, np.float32)
        padded_BV = _next_logits(weights, output, state, contexts_BK, token_B, rows, log_p_V)
        for b in range(rows):
            copy_row(padded_BV[b], logits_BV[b])
    return _generate(
        weights, output, state, contexts_BK, token_B, sampling, sequence_B, position_B, seen_BV, tokens_BT,
        logprobs_BT,
    )  # fmt: skip
