"""A metric: the number that a task is judged by, computed from sums over units of held-out text."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Value = Callable[[np.ndarray], np.ndarray]  # sums (..., K) to the metric (...)


@dataclass(frozen=True)
class Metric:
    """`value` turns summed sums into the number; what is between two models is computed from the same sums."""

    name: str  # "nats/char"
    lower_is_better: bool
    negligible: float  # a difference that does not matter in practice
    value: Value
    highest: float = 100.0  # it is never below 0

    def possible(self, interval: tuple[float, float]) -> tuple[float, float]:
        """The interval without values that the metric cannot take."""
        return max(0.0, interval[0]), min(self.highest, interval[1])


def ratio(sums: np.ndarray) -> np.ndarray:
    """Such as nats over characters."""
    return sums[..., 0] / sums[..., 1]
