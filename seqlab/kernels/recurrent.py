"""Decode step of a stack of RNN, GRU or LSTM cells; equations in cells/.

The input projection of the first layer is a table lookup: every embedding times the input matrix, computed in advance.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from seqlab.kernels.decoding import PackedMatrix, affine, copy_row, implements_decode_step, product
from seqlab.kernels.elementary import sigmoid, tanh
from seqlab.kernels.linear import add_product

TANH, RELU, SIGMOID = 0, 1, 2
ACTIVATIONS = {"tanh": TANH, "relu": RELU, "sigmoid": SIGMOID}


class PackedLayers(NamedTuple):
    """One packed matrix per layer, all of one shape."""

    w_LNKC: np.ndarray
    scale_LG: np.ndarray


class RnnWeights(NamedTuple):
    """`table_VG` and `bias_LG` include both biases; input matrices and biases start with the second layer."""

    table_VG: np.ndarray
    inputs: PackedLayers
    bias_LG: np.ndarray
    states: PackedLayers
    residual: bool
    activation: int


class GruWeights(NamedTuple):
    """The table includes the biases of r and z. `candidate_LH` is that of U_n h, because r may be applied to it."""

    table_VG: np.ndarray
    inputs: PackedLayers
    bias_LG: np.ndarray
    gates: PackedLayers  # U_r and U_z
    candidates: PackedLayers  # U_n
    candidate_LH: np.ndarray
    residual: bool
    reset_before: bool


class LstmWeights(NamedTuple):
    table_VG: np.ndarray
    inputs: PackedLayers
    bias_LG: np.ndarray
    states: PackedLayers
    residual: bool


class RnnKernelState(NamedTuple):
    """Also the state of a GRU."""

    length_B: np.ndarray
    h_BLH: np.ndarray


class LstmKernelState(NamedTuple):
    length_B: np.ndarray
    h_BLH: np.ndarray
    c_BLH: np.ndarray


@register_jitable
def layer_matrix(layers, layer):
    return PackedMatrix(layers.w_LNKC[layer], layers.scale_LG[layer])


@register_jitable
def input_projection(weights, layer, token_B, x_BH, rows):
    """W x + b of a layer; the first layer reads it from the table."""
    if layer:
        return affine(layer_matrix(weights.inputs, layer - 1), weights.bias_LG[layer - 1], x_BH, rows)
    y_BG = np.empty((rows, weights.table_VG.shape[1]), np.float32)
    for b in range(rows):
        copy_row(weights.table_VG[token_B[b]], y_BG[b])
    return y_BG


@register_jitable
def add_state_product(weights, state, layer, z_BG, rows):
    """z += U h"""
    matrix = layer_matrix(weights.states, layer)
    add_product(matrix.w_NKC, matrix.scale_G, state.h_BLH[:, layer], z_BG, rows)


@register_jitable
def layer_output(weights, layer, h_BLH, x_BH, rows):
    """The input of the layer above."""
    H = h_BLH.shape[2]
    y_BH = np.empty((rows, H), np.float32)
    for b in range(rows):
        for h in range(H):
            y_BH[b, h] = h_BLH[b, layer, h] + x_BH[b, h] if layer and weights.residual else h_BLH[b, layer, h]
    return y_BH


@register_jitable
def count_token(state, rows):
    for b in range(rows):
        state.length_B[b] += 1


def _stack(cell):
    """The decode step of stacked cells. `cell` updates the state of one layer, given z_BG = W x + b."""

    def step(weights, state, token_B, rows):
        x_BH = np.empty((rows, state.h_BLH.shape[2]), np.float32)
        for layer in range(state.h_BLH.shape[1]):
            cell(weights, state, layer, input_projection(weights, layer, token_B, x_BH, rows), rows)
            x_BH = layer_output(weights, layer, state.h_BLH, x_BH, rows)
        count_token(state, rows)
        return x_BH

    return step


@register_jitable
def _rnn_cell(weights, state, layer, z_BG, rows):
    add_state_product(weights, state, layer, z_BG, rows)
    for b in range(rows):
        for h in range(state.h_BLH.shape[2]):
            z = z_BG[b, h]
            if weights.activation == TANH:
                state.h_BLH[b, layer, h] = tanh(z)
            elif weights.activation == SIGMOID:
                state.h_BLH[b, layer, h] = sigmoid(z)
            else:
                state.h_BLH[b, layer, h] = max(z, np.float32(0))


@register_jitable
def _gru_cell(weights, state, layer, z_BG, rows):
    H = state.h_BLH.shape[2]
    h_BG = product(layer_matrix(weights.gates, layer), state.h_BLH[:, layer], rows)
    visible_BH = np.empty((rows, H), np.float32)  # the part of h that the candidate sees
    for b in range(rows):
        for h in range(H):
            z_BG[b, h] = sigmoid(z_BG[b, h] + h_BG[b, h])
            visible = z_BG[b, h] if weights.reset_before else np.float32(1)
            visible_BH[b, h] = visible * state.h_BLH[b, layer, h]
        for h in range(H, 2 * H):
            z_BG[b, h] = sigmoid(z_BG[b, h] + h_BG[b, h])
    n_BH = affine(layer_matrix(weights.candidates, layer), weights.candidate_LH[layer], visible_BH, rows)
    for b in range(rows):
        for h in range(H):
            r = np.float32(1) if weights.reset_before else z_BG[b, h]
            n = tanh(z_BG[b, 2 * H + h] + r * n_BH[b, h])
            z = z_BG[b, H + h]
            state.h_BLH[b, layer, h] = (np.float32(1) - z) * n + z * state.h_BLH[b, layer, h]


@register_jitable
def _lstm_cell(weights, state, layer, z_BG, rows):
    H = state.h_BLH.shape[2]
    add_state_product(weights, state, layer, z_BG, rows)
    for b in range(rows):
        for h in range(H):
            i, f = sigmoid(z_BG[b, h]), sigmoid(z_BG[b, H + h])
            g, o = tanh(z_BG[b, 2 * H + h]), sigmoid(z_BG[b, 3 * H + h])
            c = f * state.c_BLH[b, layer, h] + i * g
            state.c_BLH[b, layer, h] = c
            state.h_BLH[b, layer, h] = o * tanh(c)


implements_decode_step(RnnWeights)(_stack(_rnn_cell))
implements_decode_step(GruWeights)(_stack(_gru_cell))
lstm = implements_decode_step(LstmWeights)(_stack(_lstm_cell))
