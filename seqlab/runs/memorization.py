"""Whether a model memorizes: its loss on the training data is far below that on held-out data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FACTOR = 1.25  # validation loss over training loss
LEAST_GAP = 0.05  # nats: below, both losses are good


@dataclass(frozen=True)
class LossGap:
    """The plain cross-entropy on training data and the loss on validation data at one evaluation."""

    training: float
    validation: float
    improving: bool = False  # the validation loss was still falling, so longer training may help

    @property
    def memorizes(self) -> bool:
        far_apart = self.validation > FACTOR * self.training and self.validation - self.training > LEAST_GAP
        return far_apart and not self.improving


def final_gap(curve: Sequence[Mapping[str, Any]]) -> LossGap | None:
    """The losses of the last evaluation, also where earlier weights are kept: it shows where training was going."""
    gap, lowest = None, math.inf
    for point in curve:
        training, validation = point.get("train_cross_entropy"), point.get("validation_loss")
        training = point.get("train_loss") if training is None else training
        if training is not None and validation is not None:  # None: not finite
            gap = LossGap(training, validation, validation < lowest < math.inf)
            lowest = min(lowest, validation)
    return gap


def memorization_sentence(name: str, gap: LossGap) -> str:
    """What is wrong, with the two losses, and what to do."""
    return (
        f"{name} memorizes the training data: at the end, the loss is {gap.training:.2f} there and "
        f"{gap.validation:.2f} on validation data. Longer training will not help. "
        f"More data, a higher --dropout or a smaller model may."
    )
