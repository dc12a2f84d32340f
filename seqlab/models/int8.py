"""int8 weights: every matrix has one scale per row; vectors stay float32.

The largest number of a row is 127 times its scale, so quantizing a dequantized row gives the same bits:
`quantize(dequantize(q, s))` is (q, s).
"""

import torch
from torch import Tensor

SCALE = ".scale"
LARGEST = 127


def quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Integers from -127 to 127, and the scale of each row."""
    flat_RK = weight.detach().float().flatten(1)
    scale_R = flat_RK.abs().amax(1) / LARGEST
    scale_R = torch.where(scale_R > 0, scale_R, torch.ones_like(scale_R))
    return (flat_RK / scale_R[:, None]).round().to(torch.int8).view(weight.shape), scale_R


def dequantize(integers: Tensor, scale_R: Tensor) -> Tensor:
    return (integers.float().flatten(1) * scale_R[:, None]).view(integers.shape)


def to_int8(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that a file stores."""
    stored: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() < 2:
            stored[name] = weight
        else:
            stored[name], stored[name + SCALE] = quantize(weight)
    return stored


def from_int8(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inverse of `to_int8`, up to rounding."""
    return {
        name: dequantize(weight, stored[name + SCALE]) if name + SCALE in stored else weight
        for name, weight in stored.items()
        if not name.endswith(SCALE) or name.removesuffix(SCALE) not in stored
    }
