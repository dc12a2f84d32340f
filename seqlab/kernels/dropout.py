"""Dropout whose mask is a function of a key and of the position: never stored, and computed again for the gradient.

torch draws a mask on one thread, several times as slowly as it computes an activation. Here a position's word decides,
whatever thread computes it, so the bits do not depend on the number of threads. Nothing is reassociated or contracted:
the results have the bits of the plain form in `seqlab.dropout`. `offset` is the position of the first element.
"""

import numba
import numpy as np

from seqlab.kernels import KERNEL
from seqlab.kernels.uniform import keyed_word

BLOCK = 8192  # positions that a thread takes at once

COLUMNS = 32  # of an embedding's gradient that a thread takes at once

_keyed_word = numba.njit(**KERNEL)(keyed_word)


@numba.njit(parallel=True, **KERNEL)
def drop(x_N, key, second_key, offset, threshold, scale, out_N):
    """Write x times `scale` where the position's word reaches the threshold, and zero elsewhere."""
    for block in numba.prange((len(x_N) + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        position = offset + first
        x_K, out_K = x_N[first : first + BLOCK], out_N[first : first + BLOCK]
        for i in range(len(x_K)):
            kept = _keyed_word(key, second_key, np.uint32(position + i)) >= threshold
            out_K[i] = x_K[i] * scale if kept else x_N.dtype.type(0)


@numba.njit(parallel=True, **KERNEL)
def add_dropped(x_N, y_N, key, second_key, offset, threshold, scale, out_N):
    """x + drop(y)"""
    for block in numba.prange((len(x_N) + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        position = offset + first
        x_K, y_K, out_K = x_N[first : first + BLOCK], y_N[first : first + BLOCK], out_N[first : first + BLOCK]
        for i in range(len(x_K)):
            kept = _keyed_word(key, second_key, np.uint32(position + i)) >= threshold
            out_K[i] = x_K[i] + (y_K[i] * scale if kept else x_N.dtype.type(0))


@numba.njit(parallel=True, **KERNEL)
def drop_swapped(x_TBD, key, second_key, offset, threshold, scale, unswap, out_RD):
    """As `drop`, where the first two axes are swapped in memory: positions count along B, T, D. The rows of `out` are
    in the order of x or, with `unswap`, of positions."""
    T, B, D = x_TBD.shape
    for t in numba.prange(T):
        for b in range(B):
            row = b * T + t
            x_D, out_D, position = x_TBD[t, b], out_RD[row if unswap else t * B + b], offset + row * D
            for i in range(D):
                kept = _keyed_word(key, second_key, np.uint32(position + i)) >= threshold
                out_D[i] = x_D[i] * scale if kept else x_TBD.dtype.type(0)


@numba.njit(**KERNEL)
def _scaled_bfloat16(bits, scale):
    """A bfloat16, the upper half of a float32, times a float32, rounded to the nearest, ties to even."""
    product = np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32) * scale
    if product != product:  # NaN has no neighbor to round to
        return bits
    word = np.float32(product).view(np.uint32)
    return np.uint16(np.uint32(word + np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))


@numba.njit(parallel=True, **KERNEL)
def drop_bfloat16(x_N, key, second_key, offset, threshold, scale, out_N):
    """As `drop`, on the bits of bfloat16 numbers."""
    for block in numba.prange((len(x_N) + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        position = offset + first
        x_K, out_K = x_N[first : first + BLOCK], out_N[first : first + BLOCK]
        for i in range(len(x_K)):
            kept = _keyed_word(key, second_key, np.uint32(position + i)) >= threshold
            out_K[i] = _scaled_bfloat16(x_K[i], scale) if kept else np.uint16(0)


@numba.njit(parallel=True, **KERNEL)
def embed_dropped(weight_VD, tokens_N, key, second_key, offset, threshold, scale, gain, out_ND):
    """drop(gain * weight_VD[tokens_N])"""
    N, D = out_ND.shape
    for n in numba.prange(N):
        x_D, out_D, position = weight_VD[tokens_N[n]], out_ND[n], offset + n * D
        for i in range(D):
            kept = _keyed_word(key, second_key, np.uint32(position + i)) >= threshold
            out_D[i] = x_D[i] * gain * scale if kept else weight_VD.dtype.type(0)


@numba.njit(parallel=True, **KERNEL)
def embed_dropped_backward(outer_ND, rows_N, tokens_N, key, second_key, offset, threshold, scale, gain, gradient_VD):
    """Add the gradient at every position n, in row rows_N[n] of memory, to the row of its token.

    Positions are added in their order for any number of threads: each thread has columns of its own."""
    N, D = outer_ND.shape
    for block in numba.prange((D + COLUMNS - 1) // COLUMNS):
        first, last = block * COLUMNS, min((block + 1) * COLUMNS, D)
        for n in range(N):
            outer_K, gradient_K = outer_ND[rows_N[n], first:last], gradient_VD[tokens_N[n], first:last]
            position = offset + n * D + first
            for i in range(last - first):
                kept = _keyed_word(key, second_key, np.uint32(position + i)) >= threshold
                gradient_K[i] += outer_K[i] * scale * gain if kept else outer_ND.dtype.type(0)
