"""Position encodings: sinusoidal, learned, rotary, or none."""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from seqlab.precision import full


class Positions(nn.Module):
    """No positions. Subclasses `add` them to the inputs of the first layer or `rotate` queries and keys in every layer.

    `position_BT` has one row per sequence, or one row for all."""

    limit: int | None = None  # the number of positions, if it is fixed

    def add(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        return x_BTD

    def rotations(self, position_BT: Tensor, head: int, dtype: torch.dtype) -> Tensor | None:
        """What `rotate` multiplies by, the same in all layers."""
        return None

    def rotate(self, x_BTNK: Tensor, rotations: Tensor | None) -> Tensor:
        return x_BTNK


class Sinusoidal(Positions):
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(same) (Vaswani et al. 2017, section 3.5)"""

    def add(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        angle_BTF = angles(position_BT, x_BTD.shape[2])
        waves_BTF2 = torch.stack([angle_BTF.sin(), angle_BTF.cos()], dim=-1)
        return x_BTD + waves_BTF2.flatten(-2)[:, :, : x_BTD.shape[2]].to(x_BTD.dtype)


class Learned(Positions):
    """A table with one vector per position."""

    matrix_blocks: ClassVar = {"table": 0}

    def __init__(self, context: int, width: int):
        super().__init__()
        self.limit = context
        self.table = nn.Parameter(torch.randn(context, width) * 0.02)

    def add(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        return x_BTD + self.table[position_BT]


class Rotary(Positions):
    """x e^(ipθ), two features as one complex number: q · k depends on the distance of the two (Su et al. 2021).

    Complex numbers, because they take one operation where sines and cosines take seven."""

    def rotations(self, position_BT: Tensor, head: int, dtype: torch.dtype) -> Tensor:
        angle_BT1F = angles(position_BT, head)[:, :, None]
        return torch.polar(torch.ones_like(angle_BT1F), angle_BT1F).to(dtype.to_complex())

    def rotate(self, x_BTNK: Tensor, rotations: Tensor | None) -> Tensor:
        assert rotations is not None
        x_BTNF = torch.view_as_complex(full(x_BTNK).unflatten(-1, (-1, 2)))  # no complex number has two bfloat16
        return torch.view_as_real(x_BTNF * rotations).flatten(-2)


def angles(position_BT: Tensor, width: int) -> Tensor:
    """Position / 10000^(2i/width) for each pair of features, in float64, so that distant positions stay exact."""
    pair_F = torch.arange(-(-width // 2), dtype=torch.float64, device=position_BT.device)
    frequency_F = torch.exp(pair_F * (-2 * math.log(1e4) / width))
    return position_BT[:, :, None].to(torch.float64) * frequency_F


def make_positions(name: str, context: int, width: int) -> Positions:
    match name:
        case "sinusoidal":
            return Sinusoidal()
        case "learned":
            return Learned(context, width)
        case "rotary":
            return Rotary()
        case "none":
            return Positions()
    raise AssertionError(name)
