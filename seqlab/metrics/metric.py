"""A metric: how its value follows from sums over units of held-out data, and how people read that value."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seqlab.metrics.bleu import bleu, chrf
from seqlab.metrics.labels import accuracy
from seqlab.metrics.spans import entity_f1
from seqlab.wording import decimals

Value = Callable[[np.ndarray], np.ndarray]  # sums (..., K) to the metric (...)


def ratio(sums: np.ndarray) -> np.ndarray:
    """The first sum over the second, such as nats over characters."""
    return sums[..., 0] / sums[..., 1]


# How a value follows from sums, by the name that results files store: a report needs no code from elsewhere.
AGGREGATES: dict[str, Value] = {"ratio": ratio, "percentage": accuracy, "f1": entity_f1, "bleu": bleu, "chrf": chrf}


@dataclass(frozen=True)
class Metric:
    """The description of one metric, as every table, report and results file uses it."""

    key: str  # in files and in Python
    label: str  # the heading of its column
    meaning: str  # a phrase for readers who see it for the first time
    digits: int = 2  # decimals
    lower_is_better: bool = False
    unit: str = ""  # what a difference is counted in; the label if empty
    negligible: float = 0.0  # a difference that does not matter in practice
    lowest: float | None = 0.0  # the range of possible values
    highest: float | None = None
    swing: float | None = None  # by how much a unit differs if it differs at all; any value of the range if None
    aggregate: str = "ratio"  # a name in AGGREGATES
    is_count: bool = False  # how much was scored, not how well

    def __post_init__(self) -> None:
        if self.aggregate not in AGGREGATES:
            known = ", ".join(AGGREGATES)
            raise ValueError(f"unknown aggregate '{self.aggregate}' of the metric '{self.key}'. Known: {known}.")

    @property
    def difference_unit(self) -> str:
        return self.unit or self.label

    @property
    def span(self) -> float | None:
        """The width of the range of possible values; None if there is no limit."""
        return None if self.lowest is None or self.highest is None else self.highest - self.lowest

    @property
    def unit_span(self) -> float | None:
        """By how much two models may differ in a unit of which none was drawn; None if there is no limit."""
        return self.span if self.swing is None else self.swing

    def value(self, sums: np.ndarray) -> np.ndarray:
        """The metric of summed sums (..., K); differences between models are computed from the same sums."""
        return AGGREGATES[self.aggregate](sums)

    def format(self, value: float | None) -> str:
        """A value in its digits; a dash where there is none."""
        return "-" if value is None else f"{value:,.0f}" if self.is_count else decimals(value, self.digits)

    def possible(self, interval: tuple[float, float]) -> tuple[float, float]:
        """The interval without values that the metric cannot take."""
        low, high = (-math.inf if self.lowest is None else self.lowest), (self.highest or math.inf)
        return max(low, interval[0]), min(high, interval[1])

    def is_better(self, value: float, other: float) -> bool:
        return value < other if self.lower_is_better else value > other

    def cost(self, value: float) -> float:
        """A number that is lower for a better value, by which checkpoints are chosen."""
        return value if self.lower_is_better else (self.highest or 0.0) - value
