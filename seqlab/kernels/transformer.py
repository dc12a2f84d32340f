"""Decode step of the Transformer; equations in backbones/transformer.py."""

import math
from typing import NamedTuple

import numba
import numpy as np
from numba.extending import register_jitable

from seqlab.kernels import FAST
from seqlab.kernels.attention import add_rows, softmax, store_key_value
from seqlab.kernels.decoding import affine, copy_row, implements_decode_step
from seqlab.kernels.elementary import gelu, sigmoid
from seqlab.kernels.recurrent import PackedLayers, count_token, layer_matrix

NO_POSITIONS, LEARNED, SINUSOIDAL, ROTARY = 0, 1, 2, 3
POSITIONS = {"none": NO_POSITIONS, "learned": LEARNED, "sinusoidal": SINUSOIDAL, "rotary": ROTARY}
GELU, RELU, SWIGLU, RELU2 = 0, 1, 2, 3
QK_EPSILON = 1e-6  # as in attention/multihead.py
ACTIVATIONS = {"gelu": GELU, "relu": RELU, "swiglu": SWIGLU, "relu2": RELU2}


class Norms(NamedTuple):
    """Gains and biases, the final norm last; `centered`: subtract the mean first (LayerNorm, not RMSNorm)."""

    gain_ND: np.ndarray
    bias_ND: np.ndarray
    epsilon: float
    centered: bool


class TransformerWeights(NamedTuple):
    """`table_VD` holds the inputs of the first layer; layer l has norms 2 l and 2 l + 1."""

    table_VD: np.ndarray
    position_PD: np.ndarray
    frequency_F: np.ndarray
    positions: int
    heads: int
    qkv: PackedLayers
    qkv_LG: np.ndarray
    out: PackedLayers
    out_LD: np.ndarray
    up: PackedLayers
    up_LG: np.ndarray
    down: PackedLayers
    down_LD: np.ndarray
    inner: int
    activation: int
    norms: Norms
    norm_before: bool
    qk_norm: bool


class TransformerKernelState(NamedTuple):
    length_B: np.ndarray
    keys_BLDS: np.ndarray
    values_BLSD: np.ndarray


@numba.njit(**FAST)
def _normalize_row(x_D, gain_D, bias_D, epsilon, centered, y_D):
    D = len(gain_D)
    mean = np.float32(0)
    if centered:
        for d in range(D):
            mean += x_D[d]
        mean /= np.float32(D)
    square = np.float32(0)
    for d in range(D):
        square += (x_D[d] - mean) ** 2
    shrink = np.float32(1 / math.sqrt(square / D + epsilon))
    for d in range(D):
        y_D[d] = (x_D[d] - mean) * shrink * gain_D[d] + bias_D[d]


@register_jitable
def _normalize(norms, which, x_BD, rows):
    y_BD = np.empty_like(x_BD)
    for b in range(rows):
        _normalize_row(x_BD[b], norms.gain_ND[which], norms.bias_ND[which], norms.epsilon, norms.centered, y_BD[b])
    return y_BD


@register_jitable
def _embed(weights, state, token_B, rows):
    """Input embeddings, plus the position if it is learned or sinusoidal."""
    D = weights.table_VD.shape[1]
    x_BD = np.empty((rows, D), np.float32)
    for b in range(rows):
        copy_row(weights.table_VD[token_B[b]], x_BD[b])
        position = state.length_B[b]
        if weights.positions == LEARNED:
            for d in range(D):
                x_BD[b, d] += weights.position_PD[position, d]
        elif weights.positions == SINUSOIDAL:
            for d in range(D):
                angle = position * weights.frequency_F[d // 2]
                x_BD[b, d] += np.float32(math.cos(angle) if d % 2 else math.sin(angle))
    return x_BD


@register_jitable
def _rotations(weights, state, rows):
    """cos and sin of the rotary angles at each row's position, the same in every layer."""
    rotation_BF2 = np.empty((rows, len(weights.frequency_F), 2), np.float32)
    if weights.positions == ROTARY:
        for b in range(rows):
            for f in range(len(weights.frequency_F)):
                angle = state.length_B[b] * weights.frequency_F[f]
                rotation_BF2[b, f, 0], rotation_BF2[b, f, 1] = math.cos(angle), math.sin(angle)
    return rotation_BF2


@register_jitable
def _rotate(x_D, rotation_F2, heads):
    """Rotary positions: each pair of features is a complex number that is rotated."""
    pairs = len(rotation_F2)
    for head in range(heads):
        for f in range(pairs):
            at = 2 * (head * pairs + f)
            a, b = x_D[at], x_D[at + 1]
            x_D[at] = a * rotation_F2[f, 0] - b * rotation_F2[f, 1]
            x_D[at + 1] = a * rotation_F2[f, 1] + b * rotation_F2[f, 0]


@register_jitable
def _normalize_heads(x_D, heads):
    """Each head's features, divided by their root mean square."""
    size = len(x_D) // heads
    for head in range(heads):
        square = np.float32(0)
        for d in range(head * size, (head + 1) * size):
            square += x_D[d] ** 2
        shrink = np.float32(1 / math.sqrt(square / size + QK_EPSILON))
        for d in range(head * size, (head + 1) * size):
            x_D[d] *= shrink


@register_jitable
def _attend(weights, q_D, keys_DS, values_SD, visible, y_D):
    """For each head, the attention-weighted mean of the values."""
    size = len(q_D) // weights.heads
    scale = np.float32(1 / math.sqrt(size))
    scores_S = np.empty(visible, np.float32)
    for head in range(weights.heads):
        first, last = head * size, (head + 1) * size
        for s in range(visible):
            scores_S[s] = 0
        add_rows(q_D[first:last], keys_DS[first:last], scores_S)
        softmax(scores_S, scale)
        for d in range(first, last):
            y_D[d] = 0
        add_rows(scores_S, values_SD[:, first:last], y_D[first:last])


@register_jitable
def _self_attention(weights, state, layer, y_BD, rotation_BF2, rows):
    D = weights.table_VD.shape[1]
    qkv_BG = affine(layer_matrix(weights.qkv, layer), weights.qkv_LG[layer], y_BD, rows)
    seen_BD = np.empty((rows, D), np.float32)
    for b in range(rows):
        position = state.length_B[b]
        q_D, k_D, v_D = qkv_BG[b, :D], qkv_BG[b, D : 2 * D], qkv_BG[b, 2 * D : 3 * D]
        if weights.qk_norm:
            _normalize_heads(q_D, weights.heads)
            _normalize_heads(k_D, weights.heads)
        if weights.positions == ROTARY:
            _rotate(q_D, rotation_BF2[b], weights.heads)
            _rotate(k_D, rotation_BF2[b], weights.heads)
        keys_DS, values_SD = state.keys_BLDS[b, layer], state.values_BLSD[b, layer]
        store_key_value(k_D, v_D, position, keys_DS, values_SD)
        _attend(weights, q_D, keys_DS, values_SD, min(position + 1, len(values_SD)), seen_BD[b])
    return affine(layer_matrix(weights.out, layer), weights.out_LD[layer], seen_BD, rows)


@register_jitable
def _feed_forward(weights, layer, y_BD, rows):
    up_BG = affine(layer_matrix(weights.up, layer), weights.up_LG[layer], y_BD, rows)
    inner = weights.inner
    for b in range(rows):
        up_G = up_BG[b]
        if weights.activation == GELU:
            for g in range(inner):
                up_G[g] = gelu(up_G[g])
        elif weights.activation == RELU:
            for g in range(inner):
                up_G[g] = max(up_G[g], np.float32(0))
        elif weights.activation == RELU2:
            for g in range(inner):
                up_G[g] = max(up_G[g], np.float32(0)) ** 2
        else:
            for g in range(inner):
                up_G[g] = up_G[g] * sigmoid(up_G[g]) * up_G[inner + g]
    return affine(layer_matrix(weights.down, layer), weights.down_LD[layer], up_BG, rows)


@register_jitable
def _add_residual(x_BD, y_BD, rows):
    for b in range(rows):
        for d in range(x_BD.shape[1]):
            x_BD[b, d] += y_BD[b, d]


@implements_decode_step(TransformerWeights)
def _transformer(weights, state, token_B, rows):
    norms = weights.norms
    x_BD = _embed(weights, state, token_B, rows)
    rotation_BF2 = _rotations(weights, state, rows)
    for layer in range(len(weights.out_LD)):
        y_BD = _normalize(norms, 2 * layer, x_BD, rows) if weights.norm_before else x_BD
        _add_residual(x_BD, _self_attention(weights, state, layer, y_BD, rotation_BF2, rows), rows)
        if not weights.norm_before:
            x_BD = _normalize(norms, 2 * layer, x_BD, rows)
        y_BD = _normalize(norms, 2 * layer + 1, x_BD, rows) if weights.norm_before else x_BD
        _add_residual(x_BD, _feed_forward(weights, layer, y_BD, rows), rows)
        if not weights.norm_before:
            x_BD = _normalize(norms, 2 * layer + 1, x_BD, rows)
    count_token(state, rows)
    return _normalize(norms, 2 * len(weights.out_LD), x_BD, rows) if weights.norm_before else x_BD
