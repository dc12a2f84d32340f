"""Model answers of the lesson on the GRU."""

import torch
from torch import Tensor


def gru_step(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Tensor:
    (r_x, z_x, n_x), (r_h, z_h, n_h) = (W @ x + b).chunk(3), (U @ h + d).chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return (1 - z) * torch.tanh(n_x + r * n_h) + z * h


def equal_width(inputs: int, hidden: int) -> int:
    def parameters(matrices: int, width: int) -> int:
        return matrices * width * (inputs + width + 2)

    width = hidden
    while parameters(3, width + 1) <= parameters(4, hidden):
        width += 1
    return width


def paper_gate(W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return -W, -U, -b
