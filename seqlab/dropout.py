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


def drop(x: Tensor, rate: float, training: bool = True, contiguous: bool = False) -> Tensor:
    """Dropout while training, otherwise x itself.

    `contiguous`: the kernel writes in the order of positions even if x is not in it: a linear layer would copy it."""
    if not (training and rate):
        return x
    if not _has_kernel(x):
        return functional.dropout(x, rate)
    return _Drop.apply(x, rate, draw_key(), first_position(x.numel()), contiguous)  # pyright: ignore[reportReturnType]


def embed_dropped(weight_VD: Tensor, tokens: Tensor, rate: float, gain: float = 1.0) -> Tensor:
    """drop(gain * weight_VD[tokens]): embeddings are looked up and dropped in one pass, and so is their gradient."""
    if not _has_kernel(weight_VD) or weight_VD.dtype == torch.bfloat16 or is_plain():
        x = functional.embedding(tokens, weight_VD)
        return drop(x if gain == 1 else x * gain, rate)
    first = first_position(tokens.numel() * weight_VD.shape[1])
    return _EmbedDropped.apply(weight_VD, tokens, (rate, gain), draw_key(), first)  # pyright: ignore[reportReturnType]


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
    def forward(ctx: Any, x: Tensor, rate: float, key: int, first: int, contiguous: bool = False) -> Tensor:
        ctx.rate, ctx.key, ctx.first = rate, key, first
        if is_plain():
            return drop_plain(x, rate, key, first)
        from seqlab.kernels import dropout

        if _is_swapped(x):
            out = torch.empty(x.shape, dtype=x.dtype) if contiguous else torch.empty_like(x)
            out_RD = _matrix(out if contiguous else out.transpose(0, 1))
            x_TBD = x.detach().transpose(0, 1).numpy()
            _call(dropout.drop_swapped, [x_TBD], rate, (key, first), out_RD, contiguous)
        else:
            out = torch.empty(x.shape, dtype=x.dtype)
            kernel = dropout.drop_bfloat16 if x.dtype == torch.bfloat16 else dropout.drop
            _call(kernel, [_array(x)], rate, (key, first), _array(out))
        return out

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return _Drop.apply(outer[0], ctx.rate, ctx.key, ctx.first), None, None, None, None  # pyright: ignore[reportReturnType]


class _EmbedDropped(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight_VD: Tensor, tokens: Tensor, factors: tuple[float, float], key: int, first: int
    ) -> Tensor:
        from seqlab.kernels import dropout

        rate, gain = factors
        _refuse_unknown(tokens, len(weight_VD))
        ctx.save_for_backward(tokens)
        ctx.weight_shape, ctx.rate, ctx.gain, ctx.key, ctx.first = weight_VD.shape, rate, gain, key, first
        out = torch.empty(*tokens.shape, weight_VD.shape[1], dtype=weight_VD.dtype)
        inputs = [_matrix(weight_VD), _array(tokens)]
        _call(dropout.embed_dropped, inputs, rate, (key, first), out.view(-1, out.shape[-1]).numpy(), gain)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        from seqlab.kernels import dropout

        (tokens,) = ctx.saved_tensors
        gradient_VD = torch.zeros(ctx.weight_shape, dtype=outer[0].dtype)
        inputs = [*_rows(outer[0]), _array(tokens)]
        _call(dropout.embed_dropped_backward, inputs, ctx.rate, (ctx.key, ctx.first), gradient_VD.numpy(), ctx.gain)
        return gradient_VD, None, None, None, None


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


def _call(
    kernel: Any, inputs: list[np.ndarray], rate: float, place: tuple[int, int], out: np.ndarray, *more: float | bool
) -> None:
    """`place`: the key and the first position; `more`: what only this kernel takes."""
    from seqlab.kernels import call_kernel

    number = np.float64 if out.dtype == np.float64 else np.float32
    factors = [value if isinstance(value, bool) else number(value) for value in (1 / (1 - rate), *more)]
    arguments = [*inputs, *_halves(place[0]), np.int64(place[1]), _threshold(rate), *factors, out]
    call_kernel(kernel, arguments, torch.get_num_threads())


def _array(x: Tensor) -> np.ndarray:
    """The elements in the order of their positions; a bfloat16, which numpy does not know, as its bits."""
    x = x.detach().contiguous()
    return (x.view(torch.uint16) if x.dtype == torch.bfloat16 else x).numpy().reshape(-1)


def _matrix(x: Tensor) -> np.ndarray:
    """Its vectors as rows."""
    return x.detach().contiguous().view(-1, x.shape[-1]).numpy()


def _rows(x: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Its vectors as they lie in memory, and the row of each in the order of positions."""
    if not _is_swapped(x):
        return _matrix(x), np.arange(x.shape[:-1].numel())
    B, T, _ = x.shape
    return _matrix(x.transpose(0, 1)), np.arange(B * T).reshape(T, B).T.reshape(-1)


def _refuse_unknown(tokens: Tensor, vocab_size: int) -> None:
    """As torch's own lookup does: the kernel would read other memory."""
    if tokens.numel():
        least, most = (int(bound) for bound in tokens.aminmax())
        if least < 0 or most >= vocab_size:
            raise IndexError(f"token {least if least < 0 else most} is not among the {vocab_size} of the embedding")


def _is_swapped(x: Tensor) -> bool:
    """Whether the first two axes are swapped in memory, as recurrent kernels leave them. A copy would cost more than
    the dropout; bfloat16 is copied all the same."""
    is_float = x.dtype != torch.bfloat16
    return is_float and x.dim() == 3 and not x.is_contiguous() and x.transpose(0, 1).is_contiguous()


def _has_kernel(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in COMPILED


def _threshold(rate: float) -> np.uint32:
    return np.uint32(rate * 2**32)


def _halves(key: int) -> tuple[np.uint32, np.uint32]:
    return np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)
