"""The checks of the lesson on vanishing gradients."""

from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

DRAW = torch.Generator().manual_seed(0)


def check_jacobian(answer: ModuleType) -> None:
    """The Jacobian of a step"""
    jacobian = answer.jacobian
    U_HH, before_H = torch.randn(4, 4, generator=DRAW).double(), torch.randn(4, generator=DRAW).double()
    x_H = torch.randn(4, generator=DRAW).double()
    expected_HH = torch.autograd.functional.jacobian(lambda h_H: torch.tanh(x_H + U_HH @ h_H), before_H)
    found_HH = jacobian(U_HH, torch.tanh(x_H + U_HH @ before_H))
    assert isinstance(expected_HH, Tensor)
    if found_HH.shape == (4, 4) and torch.allclose(found_HH, expected_HH.T):
        raise AssertionError(
            "your jacobian(U, h) is the transpose: row i holds the derivatives of unit i of the new state."
        )
    assert found_HH.shape == (4, 4) and torch.allclose(found_HH, expected_HH), (
        f"your jacobian(U, h) returned {found_HH}; autograd gives {expected_HH}: each row of U, times the slope of "
        "tanh, which is 1 - h² in terms of the new state."
    )


def check_clip(answer: ModuleType) -> None:
    """Clipping by the norm"""
    clip = answer.clip
    for size, limit in ((10.0, 1.0), (0.01, 1.0), (3.0, 0.5)):
        given = [size * torch.randn(3, 2, generator=DRAW), size * torch.randn(5, generator=DRAW)]
        weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in given]
        for weight, gradient in zip(weights, given, strict=True):
            weight.grad = gradient.clone()
        clip_grad_norm_(weights, limit)
        found = clip([gradient.clone() for gradient in given], limit)
        for mine, weight in zip(found, weights, strict=True):
            assert weight.grad is not None and torch.allclose(mine, weight.grad, rtol=1e-4), (
                f"your clip(gradients, {limit}) returned {mine}; clip_grad_norm_ gives {weight.grad}: the norm is that "
                "of all tensors together, and gradients below the limit stay as they are."
            )


def check_vanishing_matrix(answer: ModuleType) -> None:
    """A large singular value without explosion"""
    matrix = answer.vanishing_matrix()
    square = isinstance(matrix, Tensor) and matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    assert square, f"your vanishing_matrix() returned {matrix!r}; expected a square tensor."
    largest = torch.linalg.svdvals(matrix.double())[0].item()
    assert largest >= 2, f"the largest singular value of your matrix is {largest:.3f}; expected at least 2."
    left = torch.linalg.matrix_power(matrix.double(), 50).abs().max().item()
    assert left <= 1e-6, (
        f"the 50th power of your matrix has an entry of {left:.3g}; expected at most 0.000001: look for a matrix that "
        "maps one direction to another and does not come back, such as a triangular one."
    )
