"""How the gradient of a loss falls with the distance to the input, beside the Jacobians of the state that it passes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seqlab.inspection.distances import SMALLEST, exact, spread
from seqlab.inspection.jacobians import StateProducts, recurrence_in, state_products
from seqlab.models.model import Model
from seqlab.threads import compute_threads

STRAIGHT = 0.9  # r² of the line, from which on its slope speaks for the curve
HARDLY = 0.1  # nats


@dataclass(frozen=True)
class Backward:
    """One model on one text."""

    norms_K: np.ndarray  # the mean norm of d loss_t / d input_(t-k), by k from 0
    products: StateProducts | None  # None without a state of fixed size

    @property
    def distances(self) -> list[int]:
        """Where the slopes are fitted: from 1 up, as far as both are known."""
        return self.products.distances if self.products is not None else list(range(1, len(self.norms_K)))

    @property
    def slope(self) -> float:
        """Of the logarithm of the gradient, in nats per token."""
        norms_K = self.norms_K[self.distances]
        return fitted_slope(
            self.distances, np.log(norms_K, where=norms_K > SMALLEST, out=np.full(len(norms_K), -np.inf))
        )

    @property
    def straight(self) -> bool:
        """Whether one factor per token describes the gradient: a line explains its logarithm, or it hardly changes."""
        norms_K = self.norms_K[self.distances]
        known_K = norms_K > SMALLEST
        if known_K.sum() < 2:
            return False
        distances_K, logarithms_K = np.array(self.distances)[known_K], np.log(norms_K[known_K])
        rest_K = logarithms_K - np.polyval(np.polyfit(distances_K, logarithms_K, 1), distances_K)
        return bool(rest_K.var() <= max((1 - STRAIGHT) * logarithms_K.var(), HARDLY**2))

    @property
    def product_slope(self) -> float | None:
        """Of the logarithm of the largest singular value."""
        return None if self.products is None else fitted_slope(self.products.distances, self.products.log_largest_K)


def backward(model: Model, ids: Sequence[int]) -> Backward:
    """With one thread: the matrices of a step are small, and several would mostly wait for each other."""
    model, ids_T = exact(model), torch.tensor(ids)
    with compute_threads(1):
        norms_K = gradient_norms(model, ids_T)
        recurrence = recurrence_in(model.backbone)
        if recurrence is None:
            return Backward(norms_K, None)
        x_1TD = model.embed(ids_T[None, :-1])  # pyright: ignore[reportCallIssue]
        return Backward(norms_K, state_products(recurrence, x_1TD, len(norms_K) - 1))


def gradient_curve(model: Model, ids: Sequence[int]) -> np.ndarray:
    """The gradient alone."""
    with compute_threads(1):
        return gradient_norms(exact(model), torch.tensor(ids))


def gradient_norms(model: Model, ids_T: Tensor) -> np.ndarray:
    """The mean norm by distance k, over predicted tokens in the second half of the text, which see all distances."""
    half = len(ids_T) // 2
    with torch.enable_grad():
        x_1TD = model.embed(ids_T[None, :-1]).detach().requires_grad_()  # pyright: ignore[reportCallIssue]
        loss_T = token_losses(model, x_1TD, ids_T[1:])
        norms = []
        for t in spread(half - 1, len(loss_T) - 1):
            (slope_1TD,) = torch.autograd.grad(loss_T[t], x_1TD, retain_graph=True)
            norms.append(row_norms(slope_1TD[0, t - half + 1 : t + 1]).flip(0))
    return torch.stack(norms).mean(0).numpy()


def row_norms(vectors_KD: Tensor) -> Tensor:
    """Scaled first: the squares of small numbers would be zero."""
    size_K1 = vectors_KD.abs().amax(1, keepdim=True)
    return size_K1[:, 0] * (vectors_KD / size_K1.clamp(min=SMALLEST)).norm(dim=1)


def token_losses(model: Model, x_1TD: Tensor, targets_T: Tensor) -> Tensor:
    """The loss of every target, from vectors in the place of the embedded tokens."""
    y_1TH, _ = model.backbone(x_1TD)
    logprobs_TV = model.project(y_1TH)[0].log_softmax(1)  # pyright: ignore[reportCallIssue]
    return -logprobs_TV.gather(1, targets_T[:, None])[:, 0]


def fitted_slope(distances: Sequence[int], logarithms_K: np.ndarray) -> float:
    """The slope of the straight line that fits best; NaN with fewer than two numbers above zero."""
    known_K = np.isfinite(logarithms_K)
    if known_K.sum() < 2:
        return math.nan
    return float(np.polyfit(np.array(distances)[known_K], logarithms_K[known_K], 1)[0])
