"""A mixture with counts for models of any vocabulary."""

import numpy as np
import torch

from seqlab.baselines.kneser_ney import KneserNey
from seqlab.mixing.gram_table import GramTable
from seqlab.mixing.mixture import Mixture


def draw_text(vocab_size: int, length: int, seed: int = 0) -> np.ndarray:
    """Tokens that depend on the two before them, so that counts predict something."""
    generator = np.random.default_rng(seed)
    tokens = [0, 1]
    for _ in range(length - 2):
        likely = (3 * tokens[-1] + tokens[-2]) % vocab_size
        tokens.append(likely if generator.random() < 0.6 else int(generator.integers(vocab_size)))
    return np.array(tokens)


def small_mixture(vocab_size: int, order: int = 4, max_bytes: int | None = None) -> Mixture:
    counts = KneserNey.fit(draw_text(vocab_size, 3000), vocab_size, order)
    exponents_2K = torch.linspace(0.3, 0.9, 2 * order).view(2, order)
    return Mixture(GramTable.from_counts(counts, max_bytes), *exponents_2K)
