"""The exponents of a mixture, fitted on text that neither the network nor the counts were made from."""

import torch
from torch import Tensor

SHRINKAGE = 20.0  # of the exponents of each length to the common ones, in nats per squared unit
ITERATIONS = 100


def fit_exponents(
    logits_NV: Tensor, log_p_NV: Tensor, longest_N: Tensor, targets_N: Tensor, order: int
) -> tuple[Tensor, Tensor]:
    """alpha_K and beta_K (see mixture.py), at least 0, that predict the targets best.

    Each length of a context has its own pair. Rare lengths say little, so all are drawn to a common pair."""
    common_2 = torch.full((2, 1), 0.5, dtype=torch.float64, requires_grad=True)
    own_2K = torch.zeros(2, order, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([common_2, own_2K], max_iter=ITERATIONS, line_search_fn="strong_wolfe")
    network_NV = logits_NV.log_softmax(1)

    def loss() -> Tensor:
        optimizer.zero_grad()
        alpha_N, beta_N = (common_2 + own_2K).float()[:, longest_N]
        mixed_NV = alpha_N[:, None] * network_NV + beta_N[:, None] * log_p_NV
        nats = torch.nn.functional.cross_entropy(mixed_NV, targets_N, reduction="sum")
        total = (nats + SHRINKAGE * own_2K.square().sum()) / len(targets_N)
        total.backward()
        return total

    optimizer.step(loss)  # pyright: ignore[reportArgumentType]
    alpha_K, beta_K = (common_2 + own_2K).detach().float().clamp(min=0)
    return alpha_K, beta_K
