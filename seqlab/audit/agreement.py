"""How two ways of computing the same are held against each other."""

import copy
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from torch import Tensor

from seqlab.models.model import Model

M = TypeVar("M", bound=Model)

# Of max(1, |expected|). Fused kernels sum in another order than single steps do: over 400 tokens of 23 trained models
# (RNN, GRU, LSTM, with attention, Transformer; 256 to 512 units; char and BPE) that came to 2e-5 at most. One key too
# many among 128 moved the logits of a trained Transformer by 0.1.
ALLOWED = 1e-4
ALLOWED_MEAN = 1e-5  # of nats per token: rounding errors of many tokens cancel, and 5e-7 was the most that was seen


def deviation(given: Tensor, expected: Tensor) -> float:
    """The largest difference, as a share of the expected number where that is above 1; not a number stays so."""
    if not expected.numel():
        return 0.0
    return float(((given - expected).abs() / expected.abs().clamp(min=1)).max())


def largest(deviations: list[float]) -> float:
    """Python's own `max` would pass over what is not a number."""
    return float(np.max(deviations)) if deviations else 0.0


def agree(model: M, measure: Callable[[M], float], most: float = ALLOWED) -> tuple[bool, str]:
    """Whether a measured deviation is small enough.

    A recurrence with large weights is chaotic: it doubles any rounding error every few tokens. So what is too large is
    measured again in float64, in which rounding all but vanishes and a mistake does not."""
    found = measure(model)
    if found <= most:
        return True, f"{in_words(found)} at most (allowed {most:.0e})"
    exact = measure(copy.deepcopy(model).double())
    if exact <= most:
        return True, f"{in_words(found)} is rounding that the model amplifies: {in_words(exact)} in float64"
    return False, f"{in_words(found)} (allowed {most:.0e})"


def in_words(number: float) -> str:
    return f"{number:.1e}" if number else "0.0"
