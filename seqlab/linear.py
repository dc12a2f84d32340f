"""Linear layers, y = x Wᵀ + b, whose float32 products may be computed by oneDNN instead of torch's default library.

On a CPU, torch multiplies float32 matrices with MKL, which leaves half of the AVX-512 units of an AMD processor unused;
oneDNN, which torch uses for bfloat16 and for LSTMs, uses all of them. Which one is faster is measured before a run
(`seqlab.training.matmul`). torch's own linear layer is the plain form.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqlab.precision import is_rounding

_by_onednn = False


@contextmanager
def matmul(library: str) -> Iterator[None]:
    """While entered, linear layers multiply float32 matrices with oneDNN if that is the library, else with torch's
    default."""
    global _by_onednn
    before, _by_onednn = _by_onednn, library == "onednn"
    try:
        yield
    finally:
        _by_onednn = before


def has_onednn() -> bool:
    """Whether this torch can be asked for a float32 product by oneDNN."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class Linear(nn.Linear):
    """torch's linear layer, computed by `linear`."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if not (_by_onednn and x.numel() and _is_float32(x) and _is_float32(weight)) or is_rounding(x.device):
        return functional.linear(x, weight, bias)
    return _OnednnLinear.apply(x, weight, bias)  # pyright: ignore[reportReturnType]


class _OnednnLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight, bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, weight = ctx.saved_tensors
        for_x, for_weight, for_bias = ctx.needs_input_grad
        g = outer[0].contiguous()
        g_RO, x_RI = g.view(-1, g.shape[-1]), x.reshape(-1, x.shape[-1])
        return (
            _product(g, weight.t()) if for_x else None,
            _product(g_RO.t(), x_RI.t()) if for_weight else None,
            g_RO.sum(0) if for_bias else None,
        )


def _product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _is_float32(x: Tensor) -> bool:
    return x.dtype == torch.float32 and x.device.type == "cpu"
