"""t-SNE (van der Maaten and Hinton 2008), exactly: places on a plane such that neighbors stay neighbors.

    p_ij ~ exp(-|x_i - x_j|² / 2σ_i²), made symmetric      q_ij ~ 1 / (1 + |y_i - y_j|²)

The places minimize KL(p || q). They start from the plane of the largest variance, so that the result depends on the
vectors alone. Distances between far groups mean little. M: points, D: dimensions.
"""

import numpy as np

PERPLEXITY = 30.0  # neighbors that count for each point, about
STEPS, EARLY = 500, 120  # in the early ones, attraction is stronger
EXAGGERATION, MOMENTUM = 12.0, (0.5, 0.8)


def tsne(vectors_MD: np.ndarray, start_M2: np.ndarray) -> np.ndarray:
    """Places (M, 2) from vectors; `start_M2`: where they begin, in any unit."""
    p_MM = _neighbor_shares(vectors_MD).astype(np.float32)
    y_M2 = (start_M2 / max(float(start_M2.std()), 1e-12) * 1e-2).astype(np.float32)
    change_M2, gains_M2 = np.zeros_like(y_M2), np.ones_like(y_M2)
    rate = max(len(y_M2) / EXAGGERATION / 4, 50.0)  # Belkina et al. 2019
    for step in range(STEPS):
        near_MM = 1 / (1 + _squared_distances(y_M2))
        np.fill_diagonal(near_MM, 0)
        q_MM = near_MM / near_MM.sum()
        pull_MM = ((EXAGGERATION if step < EARLY else 1.0) * p_MM - q_MM) * near_MM
        gradient_M2 = 4 * (pull_MM.sum(1)[:, None] * y_M2 - pull_MM @ y_M2)
        turned_M2 = np.sign(gradient_M2) != np.sign(change_M2)
        gains_M2 = np.maximum(np.where(turned_M2, gains_M2 + 0.2, gains_M2 * 0.8), 0.01)
        change_M2 = MOMENTUM[step >= EARLY] * change_M2 - rate * gains_M2 * gradient_M2
        y_M2 = y_M2 + change_M2
        y_M2 -= y_M2.mean(0)
    return y_M2


def _neighbor_shares(vectors_MD: np.ndarray) -> np.ndarray:
    """p (M, M): each row has the width at which its perplexity is the wanted one, found by bisection."""
    squares_MM = _squared_distances(vectors_MD.astype(np.float64))
    squares_MM /= max(float(squares_MM.mean()), 1e-12)
    np.fill_diagonal(squares_MM, np.inf)
    wanted = np.log(max(1.5, min(PERPLEXITY, (len(vectors_MD) - 1) / 3)))
    low_M1, high_M1 = np.full((len(squares_MM), 1), -12.0), np.full((len(squares_MM), 1), 18.0)
    p_MM = squares_MM
    for _ in range(40):
        beta_M1 = (low_M1 + high_M1) / 2  # log of 1 / 2σ²
        logits_MM = -squares_MM * np.exp(beta_M1)
        logits_MM -= logits_MM.max(1, keepdims=True)
        p_MM = np.exp(logits_MM)
        p_MM /= p_MM.sum(1, keepdims=True)
        entropy_M1 = -np.sum(p_MM * np.log(np.maximum(p_MM, 1e-300)), axis=1, keepdims=True)
        too_wide_M1 = entropy_M1 > wanted
        low_M1, high_M1 = np.where(too_wide_M1, beta_M1, low_M1), np.where(too_wide_M1, high_M1, beta_M1)
    return np.maximum((p_MM + p_MM.T) / (2 * len(p_MM)), 1e-12)


def _squared_distances(x_MD: np.ndarray) -> np.ndarray:
    norms_M = (x_MD**2).sum(1)
    return np.maximum(norms_M[:, None] + norms_M - 2 * x_MD @ x_MD.T, 0)
