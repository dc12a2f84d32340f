"""Decode step of the LSTM with attention over its own states; equations in backbones/lstm_attention.py."""

import math
from typing import NamedTuple

import numpy as np

from seqlab.kernels.attention import add_rows, add_tanhs, softmax, store_key_value
from seqlab.kernels.decoding import PackedMatrix, affine, implements_decode_step, product
from seqlab.kernels.recurrent import LstmWeights, lstm

ADDITIVE, DOT, SCALED = 0, 1, 2
SCORES = {"additive": ADDITIVE, "dot": DOT, "scaled": SCALED}
CONCAT, CONTEXT, ADD = 0, 1, 2
COMBINATIONS = {"concat": CONCAT, "context": CONTEXT, "add": ADD}


class LstmAttentionWeights(NamedTuple):
    recurrent: LstmWeights
    score: int
    combine: int
    queries: PackedMatrix
    keys: PackedMatrix
    key_bias_H: np.ndarray
    v_H: np.ndarray


class LstmAttentionKernelState(NamedTuple):
    length_B: np.ndarray
    h_BLH: np.ndarray
    c_BLH: np.ndarray
    keys_BHS: np.ndarray
    states_BSH: np.ndarray


@implements_decode_step(LstmAttentionWeights)
def _lstm_attention(weights, state, token_B, rows):
    h_BH = lstm(weights.recurrent, state, token_B, rows)  # counts the token, too
    H = state.h_BLH.shape[2]
    q_BH = product(weights.queries, h_BH, rows) if weights.score == ADDITIVE else h_BH
    k_BH = affine(weights.keys, weights.key_bias_H, h_BH, rows) if weights.score == ADDITIVE else h_BH
    scale = np.float32(1 / math.sqrt(H) if weights.score == SCALED else 1)
    y_BH = np.zeros((rows, 2 * H if weights.combine == CONCAT else H), np.float32)
    at = H if weights.combine == CONCAT else 0  # column of the context vector
    for b in range(rows):
        keys_HS, states_SH = state.keys_BHS[b], state.states_BSH[b]
        store_key_value(k_BH[b], h_BH[b], state.length_B[b] - 1, keys_HS, states_SH)
        scores_S = np.zeros(min(state.length_B[b], len(states_SH)), np.float32)
        if weights.score == ADDITIVE:
            add_tanhs(q_BH[b, :H], keys_HS, weights.v_H, scores_S)
        else:
            add_rows(q_BH[b, :H], keys_HS, scores_S)
        softmax(scores_S, scale)
        add_rows(scores_S, states_SH, y_BH[b, at : at + H])
        if weights.combine != CONTEXT:
            for h in range(H):
                y_BH[b, h] += h_BH[b, h]
    return y_BH
