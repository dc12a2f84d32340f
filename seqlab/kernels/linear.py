"""Matrix products for decoding: y += scale ⊙ (x W), each sum in one order, whatever the batch size.

A matrix is stored in tiles of `COLUMNS` columns, w_NKC, so a tile is read sequentially. Its sums stay in registers
while k runs from 0 to K. Rows of x share the loading of a tile, never a sum, so the bits of a row do not depend on
the other rows. Weights are float32, or int8 with one scale per column.

The compiler by itself would keep the sums in memory, so `_Tile` emits the LLVM instructions.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from seqlab.kernels import KERNEL

LANES = 16
VECTORS = 4
COLUMNS = LANES * VECTORS
ROW_GROUP = 4  # rows that share the loading of a tile: four vectors each fill half of 32 registers
CONTRACT = ("contract",)  # fuse product and sum


def pack_tiles(weights_GK: np.ndarray) -> np.ndarray:
    """A torch matrix, one row per output, in tiles; missing columns are zero."""
    G, K = weights_GK.shape
    tiles = -(-G // COLUMNS)
    padded = np.zeros((tiles * COLUMNS, K), weights_GK.dtype)
    padded[:G] = weights_GK
    return np.ascontiguousarray(padded.reshape(tiles, COLUMNS, K).transpose(0, 2, 1))


def padded_width(columns: int) -> int:
    """The width of y for this many columns: whole tiles."""
    return -(-columns // COLUMNS) * COLUMNS


def _tile(rows: int):
    """The product of `rows` rows of x, starting at row b, with tile n."""

    @intrinsic
    def multiply(typing, w, scale, x, y, n, b):
        signature = types.void(w, scale, x, y, types.intp, types.intp)

        def generate(context, builder, signature, arguments):
            _Tile(context, builder, signature, arguments, rows).write()
            return context.get_dummy_value()

        return signature, generate

    return multiply


class _Tile:
    """The instructions of one product: addresses, the loop over k, the stores."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, rows: int):
        self.builder, self.rows = builder, range(rows)
        array_types = signature.args[:4]
        w, scale, x, y = (
            context.make_array(array_type)(context, builder, value)
            for array_type, value in zip(array_types, arguments[:4], strict=True)
        )
        self.n, self.b = arguments[4:]
        self.word = ir.IntType(64)
        self.number, self.integer = ir.FloatType(), isinstance(array_types[0].dtype, types.Integer)
        self.sums = ir.VectorType(self.number, LANES)
        self.weights = ir.VectorType(ir.IntType(8) if self.integer else self.number, LANES)
        self.K = cgutils.unpack_tuple(builder, w.shape)[1]
        tile = builder.mul(self.n, builder.mul(self.K, self.constant(COLUMNS)))
        self.w = builder.gep(w.data, [tile])
        column = builder.mul(self.n, self.constant(COLUMNS))
        self.scale = builder.gep(scale.data, [column])
        self.x = [self.row(x, i) for i in self.rows]
        self.y = [builder.gep(self.row(y, i), [column]) for i in self.rows]

    def constant(self, value: int) -> ir.Constant:
        return ir.Constant(self.word, value)

    def row(self, array, i: int):
        """The address of row b + i; a row is contiguous, rows may be strided."""
        bytes_apart = cgutils.unpack_tuple(self.builder, array.strides)[0]
        place = self.builder.mul(self.builder.add(self.b, self.constant(i)), bytes_apart)
        first = self.builder.bitcast(array.data, ir.IntType(8).as_pointer())
        return self.builder.bitcast(self.builder.gep(first, [place]), self.number.as_pointer())

    def load(self, address, vector: int, vector_type: ir.VectorType):
        at = self.builder.gep(address, [self.constant(vector * LANES)])
        loaded = self.builder.load(self.builder.bitcast(at, vector_type.as_pointer()))
        loaded.align = 1 if vector_type is self.weights and self.integer else 4
        return loaded

    def as_numbers(self, loaded):
        if not self.integer:
            return loaded
        wide = ir.VectorType(ir.IntType(32), LANES)
        return self.builder.sitofp(self.builder.sext(loaded, wide), self.sums)

    def broadcast(self, number):
        """Broadcast a number to a vector."""
        undefined, word = ir.Constant(self.sums, ir.Undefined), ir.IntType(32)
        first = self.builder.insert_element(undefined, number, ir.Constant(word, 0))
        return self.builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(word, LANES), [0] * LANES))

    def fused(self, a, b, c):
        """a b + c"""
        return self.builder.fadd(self.builder.fmul(a, b, flags=CONTRACT), c, flags=CONTRACT)

    def write(self) -> None:
        builder = self.builder
        places = [(i, v) for i in self.rows for v in range(VECTORS)]
        before = builder.block
        each, after = builder.append_basic_block("each_k"), builder.append_basic_block("after")
        builder.branch(each)
        builder.position_at_end(each)
        k = builder.phi(self.word)
        sums = {place: builder.phi(self.sums) for place in places}
        at_k = builder.gep(self.w, [builder.mul(k, self.constant(COLUMNS))])
        w = [self.as_numbers(self.load(at_k, v, self.weights)) for v in range(VECTORS)]
        x = [self.broadcast(builder.load(builder.gep(self.x[i], [k]))) for i in self.rows]
        new = {(i, v): self.fused(x[i], w[v], sums[i, v]) for i, v in places}
        following = builder.add(k, self.constant(1))
        for phi, first, later in [
            (k, self.constant(0), following),
            *((sums[place], ir.Constant(self.sums, [0.0] * LANES), new[place]) for place in places),
        ]:
            phi.add_incoming(first, before)
            phi.add_incoming(later, each)
        builder.cbranch(builder.icmp_signed("<", following, self.K), each, after)
        builder.position_at_end(after)
        for i, v in places:
            result = self.fused(new[i, v], self.load(self.scale, v, self.sums), self.load(self.y[i], v, self.sums))
            at = builder.gep(self.y[i], [self.constant(v * LANES)])
            stored = builder.store(result, builder.bitcast(at, self.sums.as_pointer()))
            stored.align = 4


_single_row: Any = _tile(1)
_row_group: Any = _tile(ROW_GROUP)


@numba.njit(**KERNEL)
def add_product(w_NKC, scale_G, x_BK, y_BG, rows):
    """y += scale ⊙ (x W) for the first `rows` rows. Rows may be strided; each is contiguous."""
    for n in range(len(w_NKC)):
        b = 0
        while b + ROW_GROUP <= rows:
            _row_group(w_NKC, scale_G, x_BK, y_BG, n, b)
            b += ROW_GROUP
        while b < rows:
            _single_row(w_NKC, scale_G, x_BK, y_BG, n, b)
            b += 1
