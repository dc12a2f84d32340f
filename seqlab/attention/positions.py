"""Where a token stands: sinusoidal, learned, rotary, or not told at all."""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class Positions(nn.Module, ABC):
    """`place` acts on the inputs of the first layer, `turn` on the queries and keys of every layer."""

    limit: int | None = None  # beyond this position there is nothing to tell

    @abstractmethod
    def place(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor: ...

    def turn(self, x_BTNK: Tensor, position_BT: Tensor) -> Tensor:
        return x_BTNK


class NoPositions(Positions):
    def place(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        return x_BTD


class Sinusoidal(Positions):
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(same) (Vaswani et al. 2017, section 3.5)"""

    def place(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        angle_BTF = angles(position_BT, x_BTD.shape[2])
        waves_BTF2 = torch.stack([angle_BTF.sin(), angle_BTF.cos()], dim=-1)
        return x_BTD + waves_BTF2.flatten(-2)[:, :, : x_BTD.shape[2]].to(x_BTD.dtype)


class Learned(Positions):
    """A table with one vector per position."""

    def __init__(self, context: int, width: int):
        super().__init__()
        self.limit = context
        self.table = nn.Parameter(torch.randn(context, width) * 0.02)

    def place(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        return x_BTD + self.table[position_BT]


class Rotary(Positions):
    """Pairs of features turn with the position, so that a query and a key meet at their distance (Su et al. 2021)."""

    def place(self, x_BTD: Tensor, position_BT: Tensor) -> Tensor:
        return x_BTD

    def turn(self, x_BTNK: Tensor, position_BT: Tensor) -> Tensor:
        angle_BT1F = angles(position_BT, x_BTNK.shape[3])[:, :, None]
        cos, sin = angle_BT1F.cos().to(x_BTNK.dtype), angle_BT1F.sin().to(x_BTNK.dtype)
        a, b = x_BTNK.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def angles(position_BT: Tensor, width: int) -> Tensor:
    """Position over 10000^(2i/width) for each pair of features, in float64: far positions stay exact."""
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
            return NoPositions()
    raise AssertionError(name)
