"""Model answers of the lesson on the LSTM."""

import math

import torch
from torch import Tensor


def lstm_step(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = (W @ x + U @ h + b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def lstm_parameters(inputs: int, hidden: int) -> int:
    return 4 * (hidden * inputs + hidden * hidden + 2 * hidden)


def forget_bias(share: float, steps: int) -> float:
    gate = share ** (1 / steps)
    return math.log(gate / (1 - gate))
