"""Additive attention without one tanh per query, key and feature.

A score is Σ_h v_h tanh(q_h + k_h), and tanh(q + k) = 1 - 2 r with r = 1 / (1 + e^(2q) e^(2k)): the exponentials
factor into one table per query and one per key. The slope is 4 r (1 - r). The largest element of query and key
decides what their pair takes: up to `NEAR` two elements share a division, a/x + b/y = (a y + b x) / (x y), for half
the cost; up to `FAR` each has its own, since x y could leave the range of a float; beyond, where e^(2q) could, the
direct tanh.

Each query sees its own range of keys [first, last), so one kernel serves causal, windowed and ragged attention. One
thread sums every output element in one order: its bits do not depend on the batch or on the keys of other queries.
"""

import math

import numba

from seqlab.kernels import FAST

NEAR, FAR = 10.0, 40.0


@numba.njit(**FAST)
def _r(q, k, eq, ek):
    """r of one element, from tanh directly if the exponentials are out of range."""
    if abs(q) > FAR or abs(k) > FAR:
        return (type(q)(1) - math.tanh(q + k)) / type(q)(2)
    return type(q)(1) / (type(q)(1) + eq * ek)


@numba.njit(**FAST)
def _far_shortfall(q_H, k_H, eq_H, ek_H, v_H):
    """Σ v r if an element is beyond `FAR`."""
    shortfall = v_H.dtype.type(0)
    for h in range(len(v_H)):
        shortfall += v_H[h] * _r(q_H[h], k_H[h], eq_H[h], ek_H[h])
    return shortfall


@numba.njit(**FAST)
def _softmax(row_S, first, last, largest):
    total = row_S.dtype.type(0)
    for s in range(first, last):
        row_S[s] = math.exp(row_S[s] - largest)
        total += row_S[s]
    for s in range(first, last):
        row_S[s] /= total


@numba.njit(parallel=True, **FAST)
def additive_weights(q_BTH, k_BSH, eq_BTH, ek_BSH, reach_BT, reach_BS, v_H, first_BT, last_BT, weights_BTS):
    """Write the softmax of the scores over each query's own keys to `weights_BTS`; other entries stay unchanged."""
    B, T, H = q_BTH.shape
    half = H // 2
    one, two = v_H.dtype.type(1), v_H.dtype.type(2)
    whole = v_H.sum()
    for b in numba.prange(B):
        for t in range(T):
            largest = -v_H.dtype.type(math.inf)
            for s in range(first_BT[b, t], last_BT[b, t]):
                shortfall = v_H.dtype.type(0)
                reach = max(reach_BT[b, t], reach_BS[b, s])
                if reach == 2:
                    shortfall = _far_shortfall(q_BTH[b, t], k_BSH[b, s], eq_BTH[b, t], ek_BSH[b, s], v_H)
                elif reach == 1:
                    for h in range(H):
                        shortfall += v_H[h] / (one + eq_BTH[b, t, h] * ek_BSH[b, s, h])
                else:
                    for h in range(half):
                        x = one + eq_BTH[b, t, h] * ek_BSH[b, s, h]
                        y = one + eq_BTH[b, t, half + h] * ek_BSH[b, s, half + h]
                        shortfall += (v_H[h] * y + v_H[half + h] * x) / (x * y)
                    if H % 2:
                        shortfall += v_H[H - 1] / (one + eq_BTH[b, t, H - 1] * ek_BSH[b, s, H - 1])
                weights_BTS[b, t, s] = whole - two * shortfall
                largest = max(largest, weights_BTS[b, t, s])
            _softmax(weights_BTS[b, t], first_BT[b, t], last_BT[b, t], largest)


@numba.njit(**FAST)
def _backward_far(d, q_H, k_H, eq_H, ek_H, dq_H, dk_H, dv_H):
    for h in range(len(dq_H)):
        r = _r(q_H[h], k_H[h], eq_H[h], ek_H[h])
        dq_H[h] += d * r - d * r * r
        dk_H[h] += d * r - d * r * r
        dv_H[h] += d * r


@numba.njit(parallel=True, **FAST)
def additive_backward(
    q_BTH, k_BSH, eq_BTH, ek_BSH, reach_BT, reach_BS, v_H, first_BT, last_BT, ds_BTS, dq_BTH, dk_BSH, dv_BH
):
    """Backpropagate the gradients of the scores, `ds_BTS`, to queries, keys and v; r is computed again.

    The caller multiplies the gradients of queries and keys by 4 v_h; that of v is Σ d r."""
    B, T, H = q_BTH.shape
    one = v_H.dtype.type(1)
    for b in numba.prange(B):
        for t in range(T):
            for s in range(first_BT[b, t], last_BT[b, t]):
                d = ds_BTS[b, t, s]
                if reach_BT[b, t] == 2 or reach_BS[b, s] == 2:
                    _backward_far(
                        d, q_BTH[b, t], k_BSH[b, s], eq_BTH[b, t], ek_BSH[b, s], dq_BTH[b, t], dk_BSH[b, s], dv_BH[b]
                    )
                else:
                    for h in range(H):
                        r = one / (one + eq_BTH[b, t, h] * ek_BSH[b, s, h])
                        dr = d * r
                        slope = dr - dr * r
                        dq_BTH[b, t, h] += slope
                        dk_BSH[b, s, h] += slope
                        dv_BH[b, h] += dr
