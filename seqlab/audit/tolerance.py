"""Comparing two ways of computing the same numbers."""

import copy
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from torch import Tensor

from seqlab.models.model import Model

M = TypeVar("M", bound=Model)

# Relative to max(1, |expected|). Fused kernels sum in another order than single steps: over 400 tokens of 23 trained
# models (RNN, GRU, LSTM, with attention, Transformer; 256 to 512 units; char and BPE) the largest deviation was 2e-5.
# One key too many among 128 moved the logits of a trained Transformer by 0.1.
TOLERANCE = 1e-4
MEAN_TOLERANCE = 1e-5  # nats per token: rounding errors of many tokens cancel; the largest deviation seen was 5e-7


def deviation(actual: Tensor, expected: Tensor) -> float:
    """The largest difference, relative to the expected value if that is above 1; NaN stays NaN."""
    if not expected.numel():
        return 0.0
    return float(((actual - expected).abs() / expected.abs().clamp(min=1)).max())


def largest(deviations: list[float]) -> float:
    """The maximum; NaN if any is NaN, which Python's `max` would ignore."""
    return float(np.max(deviations)) if deviations else 0.0


def within_tolerance(model: M, measure: Callable[[M], float], tolerance: float = TOLERANCE) -> tuple[bool, str]:
    """Whether a deviation is small enough, and the deviation in words.

    A recurrence with large weights is chaotic and doubles every rounding error after a few tokens. A deviation that is
    too large is therefore measured again in float64, where rounding all but vanishes and a mistake does not."""
    measured = measure(model)
    if measured <= tolerance:
        return True, f"at most {format_deviation(measured)} (tolerance {tolerance:.0e})"
    exact = measure(copy.deepcopy(model).double())
    if exact <= tolerance:
        return True, (
            f"{format_deviation(measured)} is rounding that the model amplifies: {format_deviation(exact)} in float64"
        )
    return False, f"{format_deviation(measured)} (tolerance {tolerance:.0e})"


def format_deviation(number: float) -> str:
    return f"{number:.1e}" if number else "0.0"
