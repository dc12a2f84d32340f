"""What the losses of a run say: training diverged, or the model memorizes the training data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.wording import decimals

FACTOR = 1.25  # validation loss over training loss
LEAST_GAP = 0.05  # nats: below, both losses are good
LEAST_RISE = 0.5  # nats: the losses of single batches differ by less while a model is untrained


@dataclass(frozen=True)
class LossGap:
    """The plain cross-entropy on training data and the loss on validation data at one evaluation."""

    training: float
    validation: float
    improving: bool = False  # the validation loss was still falling, so longer training may help
    first: float = math.inf  # the training loss that the run began with

    @property
    def diverged(self) -> bool:
        return self.training - self.first > LEAST_RISE

    @property
    def memorizes(self) -> bool:
        far_apart = self.validation > FACTOR * self.training and self.validation - self.training > LEAST_GAP
        return far_apart and not self.improving and not self.diverged


def final_gap(curve: Sequence[Mapping[str, Any]]) -> LossGap | None:
    """The losses of the last evaluation, also where earlier weights are kept: it shows where training was going."""
    gap, first, lowest = None, math.inf, math.inf
    for point in curve:
        training, validation = _training_loss(point), point.get("validation_loss")
        first = training if first == math.inf and training is not None else first
        if training is not None and validation is not None:  # None: not finite, or a step
            gap = LossGap(training, validation, validation < lowest < math.inf, first)
            lowest = min(lowest, validation)
    return gap


def _training_loss(point: Mapping[str, Any]) -> float | None:
    """Of an evaluation or of a single step; the plain cross-entropy where training minimizes another loss."""
    keys = ("train_cross_entropy", "train_loss", "cross_entropy", "loss")
    return next((point[key] for key in keys if point.get(key) is not None), None)


def loss_caution(name: str, gap: LossGap, lower_rate: str = "Lower the learning rate (train.lr).") -> str:
    """What is wrong, with the losses, and what to do; empty if nothing is."""
    if gap.diverged:
        return (
            f"{name} diverged: the training loss was {decimals(gap.first, 2)} at the beginning and "
            f"{decimals(gap.training, 2)} at the end. {lower_rate}"
        )
    if gap.memorizes:
        return (
            f"{name} memorizes the training data: at the end, the loss is {gap.training:.2f} there and "
            f"{decimals(gap.validation, 2)} on validation data. Longer training will not help. "
            f"More data, a higher --dropout or a smaller model may."
        )
    return ""
