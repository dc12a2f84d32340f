"""Weights in fewer bits: every matrix as int8, with a scale for each of its rows; what is no matrix stays as it is.

A row's largest number is 127 times its scale. So the rows are found again, bit by bit, from the numbers that they stand
for: `quantized(restored(q, s))` is q and s.
"""

import torch
from torch import Tensor

SCALE = ".scale"
LARGEST = 127


def quantized(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers from -127 to 127, and the scale of each row."""
    flat_RK = weight.detach().float().flatten(1)
    scale_R = flat_RK.abs().amax(1) / LARGEST
    scale_R = torch.where(scale_R > 0, scale_R, torch.ones_like(scale_R))
    return (flat_RK / scale_R[:, None]).round().to(torch.int8).view(weight.shape), scale_R


def restored(whole: Tensor, scale_R: Tensor) -> Tensor:
    return (whole.float().flatten(1) * scale_R[:, None]).view(whole.shape)


def to_int8(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """What is kept in a file."""
    kept: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() < 2:
            kept[name] = weight
        else:
            kept[name], kept[name + SCALE] = quantized(weight)
    return kept


def from_int8(kept: dict[str, Tensor]) -> dict[str, Tensor]:
    """What `to_int8` was given, as nearly as it is known still."""
    return {
        name: restored(weight, kept[name + SCALE]) if name + SCALE in kept else weight
        for name, weight in kept.items()
        if not name.endswith(SCALE) or name.removesuffix(SCALE) not in kept
    }
