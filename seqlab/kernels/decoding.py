"""The token loop: read, weigh, choose, over and over, without coming back to Python.

`advance` has a form for each kind of weights, in a file of its own: it lets the first `rows` rows of a state take in
one token each, in place, and returns the vectors that the output is projected from. Everything else is written once.
Rows are computed side by side and never together: what comes of one does not depend on the others.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import register_jitable

from seqlab.kernels import KERNEL
from seqlab.kernels.linear import add_product
from seqlab.kernels.sampling import OK, sample, uniform


class PackedMatrix(NamedTuple):
    """A packed matrix: float32 with scales of 1, or int8."""

    w_NKC: np.ndarray
    scale_G: np.ndarray


class OutputLayer(NamedTuple):
    """From vectors to logits; a tied output may have to narrow them first."""

    narrow: PackedMatrix
    logits: PackedMatrix
    bias_V: np.ndarray


class PromptBatch(NamedTuple):
    """To be taken in, the longest first."""

    tokens_BT: np.ndarray
    lengths_B: np.ndarray


class SamplingParameters(NamedTuple):
    temperature: float
    top_k: int
    top_p: float
    penalty: float
    seed: int
    banned_V: np.ndarray


def is_weights_type(weights: Any, kind: type) -> bool:
    """Whether this is the compiler's type of such weights."""
    return getattr(weights, "instance_class", None) is kind


def decode_step(weights, state, token_B, rows):
    """Overloaded by every kind of weights."""
    raise AssertionError("there is no form for these weights")


@register_jitable
def copy_row(from_N, to_N):
    """An assignment of slices, without what it would have to say of shapes that differ: a third of the compilation."""
    for n in range(len(to_N)):
        to_N[n] = from_N[n]


@register_jitable
def product(matrix, x_BK, rows):
    """x W for the first rows, in an array of their own."""
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
    """Logits, and padding after them."""
    if len(output.narrow.w_NKC):
        y_BH = product(output.narrow, y_BH, rows)
    return affine(output.logits, output.bias_V, y_BH, rows)


@register_jitable
def _prefill(weights, state, prompts_BT, lengths_B):
    rows = len(lengths_B)
    token_B = np.empty(rows, np.int64)
    for t in range(prompts_BT.shape[1]):
        while rows and lengths_B[rows - 1] <= t:
            rows -= 1
        for b in range(rows):
            token_B[b] = prompts_BT[b, t]
        decode_step(weights, state, token_B, rows)


@register_jitable
def _generate(weights, output, state, token_B, sampling, sequence_B, position_B, seen_BV, tokens_BT, logprobs_BT):
    rows, V = seen_BV.shape
    scores_V, weights_V, heap_V = np.empty(V), np.empty(V), np.empty(V, np.int64)
    for t in range(tokens_BT.shape[1]):
        logits_BV = output_logits(output, decode_step(weights, state, token_B, rows), rows)
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
    weights, output, state, prompts, token_B, logits_BV, sampling, sequence_B, position_B, seen_BV, tokens_BT,
    logprobs_BT,
):  # fmt: skip
    """All that is done with a state, as one function: each would be compiled for as long as all of them.

    Texts are taken in. Where there are rows for logits, they are those after `token_B`. Then every row grows by as many
    tokens as there is room for, `token_B` being the last of each text, new to the state. What came of the last one."""
    _prefill(weights, state, prompts.tokens_BT, prompts.lengths_B)
    if len(logits_BV):
        padded_BV = output_logits(output, decode_step(weights, state, token_B, len(logits_BV)), len(logits_BV))
        for b in range(len(logits_BV)):
            copy_row(padded_BV[b], logits_BV[b])
    return _generate(weights, output, state, token_B, sampling, sequence_B, position_B, seen_BV, tokens_BT, logprobs_BT)
