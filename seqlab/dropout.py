"""Dropout: y = m ⊙ x / (1 - rate), m_i = 0 with probability `rate` (Srivastava et al. 2014).

Each call draws a key from torch's generator, and the mask is a function of key and position. So a mask is a function of
the seed and step that the generator was seeded from, of the number of the call within the step, and of the position.
A process that computes some rows of a batch counts positions as in the whole batch, so the mask of a row does not
depend on the number of processes. Only key and first position are kept for the gradient. On a CPU the compiled kernel
computes it, or the plain form where nothing can be compiled, with the same bits; elsewhere torch's own dropout does.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from seqlab.distributed.rows import first_position
from seqlab.kernels import can_compile, is_forked
from seqlab.kernels.uniform import keyed_word

COMPILED = (torch.float32, torch.float64, torch.bfloat16)


def drop(x: Tensor, rate: float, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout while training, otherwise x itself.

    `inplace`: the result may take the memory of x, which is no parameter and which nothing else needs."""
    if not (training and rate):
        return x
    if not _has_kernel(x):
        return functional.dropout(x, rate)
    function = _DropInPlace if inplace else _Drop
    return function.apply(x, rate, draw_key(), first_position(x.numel()))  # pyright: ignore[reportReturnType]


def add_dropped(x: Tensor, y: Tensor, rate: float, training: bool = True) -> Tensor:
    """x + drop(y), a residual connection; tensors of one shape."""
    assert x.shape == y.shape, f"a residual connection adds tensors of one shape, not {x.shape} and {y.shape}"
    if not (training and rate):
        return x + y
    dtype = torch.promote_types(x.dtype, y.dtype)
    if dtype == torch.bfloat16 or not (_has_kernel(x) and _has_kernel(y)):
        return x + drop(y, rate)
    return _AddDropped.apply(x.to(dtype), y.to(dtype), rate, draw_key(), first_position(x.numel()))  # pyright: ignore[reportReturnType]


def draw_key() -> int:
    """A key of 63 bits from torch's generator."""
    return int(torch.empty((), dtype=torch.int64).random_())


def mask(shape: torch.Size, rate: float, key: int, first: int = 0) -> Tensor:
    """True where a position is kept; `first` is the position of the first element."""
    position_N = np.arange(first, first + shape.numel(), dtype=np.uint64).astype(np.uint32)
    return torch.from_numpy(keyed_word(*_halves(key), position_N) >= _threshold(rate)).view(shape)


def drop_plain(x: Tensor, rate: float, key: int, first: int = 0) -> Tensor:
    """The equation, with the mask as a tensor."""
    return torch.where(mask(x.shape, rate, key, first), x * (1 / (1 - rate)), 0.0)


def is_plain() -> bool:
    """Whether the plain form computes: without numba, or in a forked process, whose kernels would be compiled anew."""
    return not can_compile() or is_forked()


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float, key: int, first: int) -> Tensor:
        ctx.rate, ctx.key, ctx.first = rate, key, first
        out = torch.empty_like(x) if _is_swapped(x) else torch.empty(x.shape, dtype=x.dtype)
        return _write_dropped(x, rate, (key, first), out)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return _Drop.apply(outer[0], ctx.rate, ctx.key, ctx.first), None, None, None  # pyright: ignore[reportReturnType]


class _DropInPlace(_Drop):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float, key: int, first: int) -> Tensor:
        ctx.rate, ctx.key, ctx.first = rate, key, first
        ctx.mark_dirty(x)
        in_order = x.is_contiguous() or _is_swapped(x)
        return _write_dropped(x, rate, (key, first), x) if in_order else x.copy_(drop_plain(x, rate, key, first))


class _AddDropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, rate: float, key: int, first: int) -> Tensor:
        ctx.rate, ctx.key, ctx.first = rate, key, first
        if is_plain():
            return x + drop_plain(y, rate, key, first)
        from seqlab.kernels import dropout

        out = torch.empty(x.shape, dtype=x.dtype)
        _call(dropout.add_dropped, [_array(x), _array(y)], rate, (key, first), _array(out))
        return out

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return outer[0], _Drop.apply(outer[0], ctx.rate, ctx.key, ctx.first), None, None, None  # pyright: ignore[reportReturnType]


def _write_dropped(x: Tensor, rate: float, place: tuple[int, int], out: Tensor) -> Tensor:
    """`out`, which may be x, has the elements of x in the same order in memory."""
    if is_plain():
        return out.copy_(drop_plain(x, rate, *place))
    from seqlab.kernels import dropout

    if _is_swapped(x):
        _call(dropout.drop_swapped, [_swapped_array(x)], rate, place, _swapped_array(out))
    else:
        kernel = dropout.drop_bfloat16 if x.dtype == torch.bfloat16 else dropout.drop
        _call(kernel, [_array(x)], rate, place, _array(out))
    return out


def _call(kernel: Any, inputs: list[np.ndarray], rate: float, place: tuple[int, int], out: np.ndarray) -> None:
    """`place`: the key and the first position."""
    from seqlab.kernels import call_kernel

    number = np.float64 if out.dtype == np.float64 else np.float32
    arguments = [*_halves(place[0]), np.int64(place[1]), _threshold(rate), number(1 / (1 - rate))]
    call_kernel(kernel, [*inputs, *arguments, out], torch.get_num_threads())


def _array(x: Tensor) -> np.ndarray:
    """The elements in the order of their positions; a bfloat16, which numpy does not know, as its bits."""
    x = x.detach().contiguous()
    return (x.view(torch.uint16) if x.dtype == torch.bfloat16 else x).numpy().reshape(-1)


def _is_swapped(x: Tensor) -> bool:
    """Whether the first two axes are swapped in memory, as recurrent kernels leave them. A copy would cost more than
    the dropout; bfloat16 is copied all the same."""
    is_float = x.dtype != torch.bfloat16
    return is_float and x.dim() == 3 and not x.is_contiguous() and x.transpose(0, 1).is_contiguous()


def _swapped_array(x_BTD: Tensor) -> np.ndarray:
    return x_BTD.detach().transpose(0, 1).numpy()


def _has_kernel(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in COMPILED


def _threshold(rate: float) -> np.uint32:
    return np.uint32(rate * 2**32)


def _halves(key: int) -> tuple[np.uint32, np.uint32]:
    return np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)
