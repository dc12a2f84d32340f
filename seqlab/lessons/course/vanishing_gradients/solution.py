"""Model answers of the lesson on vanishing gradients."""

import torch
from torch import Tensor


def jacobian(U: Tensor, h: Tensor) -> Tensor:
    return (1 - h**2)[:, None] * U


def clip(gradients: list[Tensor], limit: float) -> list[Tensor]:
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return [gradient * min(1.0, limit / norm.item()) for gradient in gradients]


def vanishing_matrix() -> Tensor:
    return torch.tensor([[0.0, 2.0], [0.0, 0.0]])  # what it maps to, it maps to zero
