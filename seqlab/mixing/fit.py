"""The exponents of a mixture, fitted on text that neither the network nor the counts were made from."""

import numpy as np
import torch
from torch import Tensor

SHRINKAGE = 20.0  # of the exponents of each length to the common ones, in nats per squared unit
ITERATIONS, BOUNDED_ITERATIONS = 50, 100
HALVINGS = 20  # of a step that does not help
TOLERANCE = 1e-9  # nats per token that a further step would gain
BOUNDED_TOLERANCE = 1e-8  # the share of the loss that a further step of the slower search would gain


def fit_exponents(
    logits_NV: Tensor, log_p_NV: Tensor, longest_N: Tensor, targets_N: Tensor, order: int
) -> tuple[Tensor, Tensor]:
    """alpha_K and beta_K (see mixture.py), at least 0, that predict the targets best.

    Each length of a context has its own pair. Rare lengths say little, so all are drawn to a common pair. The loss is
    convex in these few numbers, so Newton's method finds its minimum; if some are negative there, the minimum where
    none is takes a slower search."""
    features = logits_NV.log_softmax(1), log_p_NV
    # the common pair, then the difference of each length from it
    weights_J2 = torch.zeros(1 + order, 2, dtype=torch.float64)
    weights_J2[0] = 0.5
    nats, gradient_J2, curvature_K22 = _moments(*features, longest_N, targets_N, weights_J2)
    for _ in range(ITERATIONS):
        step_J2 = _newton_step(gradient_J2, curvature_K22)
        slope = float((gradient_J2 * step_J2).sum())
        if -slope < TOLERANCE * len(targets_N):
            break
        for halving in range(HALVINGS):
            tried_J2 = weights_J2 + step_J2 * 0.5**halving
            moments = _moments(*features, longest_N, targets_N, tried_J2)
            if moments[0] < nats:
                break
        else:
            break  # as good as rounding allows
        weights_J2, (nats, gradient_J2, curvature_K22) = tried_J2, moments
    pairs_K2 = weights_J2[0] + weights_J2[1:]
    if (pairs_K2 < 0).any():
        pairs_K2 = _fit_bounded(*features, longest_N, targets_N, order)
    alpha_K, beta_K = pairs_K2.T.float()
    return alpha_K, beta_K


def _fit_bounded(network_NV: Tensor, log_p_NV: Tensor, longest_N: Tensor, targets_N: Tensor, order: int) -> Tensor:
    """The pairs of the least loss among those without a negative number. The common pair is their mean."""
    from scipy.optimize import minimize  # a third of a second, which most fits need not wait

    def loss(pairs_P: np.ndarray) -> tuple[float, np.ndarray]:
        pairs_K2 = torch.from_numpy(pairs_P).view(order, 2)
        common_2 = pairs_K2.mean(0, keepdim=True)
        nats, gradient_J2, _ = _moments(
            network_NV, log_p_NV, longest_N, targets_N, torch.cat([common_2, pairs_K2 - common_2])
        )
        return nats, gradient_J2[1:].flatten().numpy()

    options = {"maxiter": BOUNDED_ITERATIONS, "ftol": BOUNDED_TOLERANCE}
    found = minimize(
        loss, np.full(2 * order, 0.5), jac=True, method="L-BFGS-B", bounds=[(0, None)] * 2 * order, options=options
    )
    return torch.from_numpy(found.x).view(order, 2)


def _moments(
    network_NV: Tensor, log_p_NV: Tensor, longest_N: Tensor, targets_N: Tensor, weights_J2: Tensor
) -> tuple[float, Tensor, Tensor]:
    """The loss, its gradient, and its curvature in the pair of each length.

    Of -ln softmax(alpha x + beta y), the gradient is what is expected of (x, y) minus what came, and the curvature is
    the covariance of (x, y)."""
    pairs_K2 = weights_J2[0] + weights_J2[1:]
    alpha_N, beta_N = pairs_K2.float()[longest_N].T
    mixed_NV = alpha_N[:, None] * network_NV
    mixed_NV.addcmul_(beta_N[:, None], log_p_NV)
    p_NV = mixed_NV.log_softmax(1)
    nats = -float(p_NV.gather(1, targets_N[:, None]).double().sum())
    p_NV.exp_()
    weighted_NV, weighted_too_NV = p_NV * network_NV, p_NV * log_p_NV
    means_N2 = torch.stack([weighted_NV.sum(1), weighted_too_NV.sum(1)], 1).double()
    squares_N3 = torch.stack(
        [
            torch.linalg.vecdot(weighted_NV, network_NV),
            torch.linalg.vecdot(weighted_NV, log_p_NV),
            torch.linalg.vecdot(weighted_too_NV, log_p_NV),
        ],
        1,
    ).double()
    came_N2 = torch.stack([x_NV.gather(1, targets_N[:, None])[:, 0] for x_NV in (network_NV, log_p_NV)], 1).double()
    covariance_N4 = squares_N3[:, [0, 1, 1, 2]] - (means_N2[:, :, None] * means_N2[:, None]).flatten(1)
    order = len(pairs_K2)
    gradient_K2 = torch.zeros(order, 2, dtype=torch.float64).index_add_(0, longest_N, means_N2 - came_N2)
    curvature_K4 = torch.zeros(order, 4, dtype=torch.float64).index_add_(0, longest_N, covariance_N4)
    own_K2 = weights_J2[1:]
    gradient_J2 = torch.cat([gradient_K2.sum(0, keepdim=True), gradient_K2 + 2 * SHRINKAGE * own_K2])
    return nats + SHRINKAGE * float(own_K2.square().sum()), gradient_J2, curvature_K4.view(-1, 2, 2)


def _newton_step(gradient_J2: Tensor, curvature_K22: Tensor) -> Tensor:
    """To the minimum of the parabola with this gradient and curvature; the shortest, if there are several."""
    J = len(gradient_J2)
    hessian_J2J2 = torch.zeros(J, 2, J, 2, dtype=torch.float64)
    hessian_J2J2[0, :, 0] = curvature_K22.sum(0)
    for k, curvature_22 in enumerate(curvature_K22, 1):
        hessian_J2J2[0, :, k] = hessian_J2J2[k, :, 0] = curvature_22
        hessian_J2J2[k, :, k] = curvature_22 + 2 * SHRINKAGE * torch.eye(2, dtype=torch.float64)
    inverse = torch.linalg.pinv(hessian_J2J2.view(2 * J, 2 * J), hermitian=True)
    return -(inverse @ gradient_J2.view(-1)).view(J, 2)
