"""The arguments of kernels/counts.py, which import without numba."""

from typing import NamedTuple

import numpy as np

NONE = -1  # a context that is not in the table


class Grams(NamedTuple):
    """The last token of each gram and what it adds to the probability of that token; for each context, the beginning
    of its grams (C + 1 entries) and the share that it leaves to the context that is one token shorter."""

    tokens_G: np.ndarray
    values_G: np.ndarray
    children_C: np.ndarray
    backoff_C: np.ndarray


class CountMixture(NamedTuple):
    """Grams, and the exponents of the network's and the counts' probabilities by the length of the context (K)."""

    grams: Grams
    alpha_K: np.ndarray
    beta_K: np.ndarray


class NoMixture(NamedTuple):
    """A network alone."""

    order: int = 0
