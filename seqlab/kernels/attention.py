"""Attention of one query over a KV cache: keys_DS, one row per feature, and values_SD, one row per position.

Both sums run over rows, which lie contiguously in memory. A cache that is full is a ring buffer.
"""

import math

import numba
import numpy as np
from numba.extending import register_jitable

from seqlab.kernels import FAST, KERNEL
from seqlab.kernels.elementary import exp, tanh


@numba.njit(fastmath={"contract"}, **KERNEL)
def add_rows(a_M, x_MN, y_N):
    """y += Σ a_m x_m, four rows at a time, in order."""
    M, N = len(a_M), len(y_N)
    whole = M // 4 * 4
    for m in range(0, whole, 4):
        a0, a1, a2, a3 = a_M[m], a_M[m + 1], a_M[m + 2], a_M[m + 3]
        x0_N, x1_N, x2_N, x3_N = x_MN[m], x_MN[m + 1], x_MN[m + 2], x_MN[m + 3]
        for n in range(N):
            y_N[n] = (((y_N[n] + a0 * x0_N[n]) + a1 * x1_N[n]) + a2 * x2_N[n]) + a3 * x3_N[n]
    for m in range(whole, M):
        a0, x0_N = a_M[m], x_MN[m]
        for n in range(N):
            y_N[n] += a0 * x0_N[n]


@numba.njit(**FAST)
def add_tanhs(q_H, keys_HS, v_H, y_S):
    """y_s += Σ v_h tanh(q_h + k_hs)"""
    for h in range(len(q_H)):
        q, v, k_S = q_H[h], v_H[h], keys_HS[h]
        for s in range(len(y_S)):
            y_S[s] += v * tanh(q + k_S[s])


@numba.njit(**FAST)
def softmax(scores_S, scale):
    largest = -np.float32(math.inf)
    for s in range(len(scores_S)):
        largest = max(largest, scores_S[s])
    total = np.float32(0)
    for s in range(len(scores_S)):
        scores_S[s] = exp((scores_S[s] - largest) * scale)
        total += scores_S[s]
    for s in range(len(scores_S)):
        scores_S[s] /= total


@register_jitable
def store_key_value(key_D, value_D, position, keys_DS, values_SD):
    slot = position % keys_DS.shape[1]
    for d in range(len(keys_DS)):
        keys_DS[d, slot] = key_D[d]
        values_SD[slot, d] = value_D[d]
