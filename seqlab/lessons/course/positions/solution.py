"""Model answers."""

import torch


def _angles(position, width):
    return position / 10_000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoid(position, width):
    angle_F = _angles(position, width)
    return torch.stack([angle_F.sin(), angle_F.cos()], dim=1).flatten()


def rotate(x_K, position):
    angle_F = _angles(position, len(x_K))
    even_F, odd_F = x_K[0::2], x_K[1::2]
    turned = [even_F * angle_F.cos() - odd_F * angle_F.sin(), even_F * angle_F.sin() + odd_F * angle_F.cos()]
    return torch.stack(turned, dim=1).flatten()


def shift_matrix(distance, width):
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in _angles(distance, width)]
    return torch.block_diag(*blocks)
