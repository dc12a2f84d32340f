"""Model answers of the lesson on recurrence."""

import math

import torch
from torch import Tensor


def step(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(W @ x + U @ h + b)


def slope(w: float, u: float, xs: list[float]) -> float:
    h, dh = 0.0, 0.0
    for x in xs:  # dh_t/du = (1 - h_t²) (h_(t-1) + u dh_(t-1)/du)
        before, h = h, math.tanh(w * x + u * h)
        dh = (1 - h**2) * (before + u * dh)
    return dh


def last_states(h: Tensor, lengths: Tensor) -> Tensor:
    return h[torch.arange(len(h)), lengths - 1]
