"""Models of equal size: the width is solved for, then the feed-forward width closes the gap.

Layers, heads and the embedding stay as they are set.
"""

from collections.abc import Callable
from dataclasses import dataclass

from seqlab.comparison.plan.request import Amount
from seqlab.config import RunSettings, VocabSizes
from seqlab.errors import UsageError
from seqlab.models.parameter_count import parameters
from seqlab.registry import TASKS

ONE_EACH = VocabSizes(1, 1, 1, 1)  # symbols: how many there are is no matter of the core
CLOSE = 0.01  # as a share of the target
WIDEST = 65_536
NEIGHBOURS = 2  # widths tried on either side: sizes jump where the width is the embedding's


@dataclass(frozen=True)
class MatchedModel:
    settings: RunSettings
    size: int
    target: float

    @property
    def gap(self) -> float:
        """By which share of the target it is off."""
        return (self.size - self.target) / self.target


def match_size(settings: RunSettings, target: Amount) -> MatchedModel:
    """The settings with the width that comes nearest to the target."""
    size = SIZE_OF[target.kind]
    unit = _unit(settings)
    found = _bisect(lambda units: size(_wide(settings, units * unit)), target.size, WIDEST // unit)
    near = range(max(1, found - NEIGHBOURS), min(WIDEST // unit, found + 1 + NEIGHBOURS) + 1)
    by_width = sorted(near, key=lambda units: abs(size(_wide(settings, units * unit)) - target.size))
    tried = [_closed(_wide(settings, units * unit), size, target.size) for units in by_width]
    # the nearest width, unless its feed-forward part cannot close the gap and a neighbour's can
    return next((one for one in tried if abs(one.gap) <= CLOSE), min(tried, key=lambda one: abs(one.gap)))


def core_parameters(settings: RunSettings) -> int:
    """Everything but the token embedding, the output projection and a learned table of positions."""
    return parameters(settings, ONE_EACH).core


def core_flops(settings: RunSettings) -> int:
    """Of the forward pass of all backbones per token, in sequences of the task's length."""
    import torch

    with torch.device("meta"):  # shapes alone
        model = TASKS.load(settings.task.name).build(settings, ONE_EACH)
    return model.core_flops(settings.task.settings.sequence_length)


SIZE_OF: dict[str, Callable[[RunSettings], int]] = {"params": core_parameters, "flops": core_flops}


def _wide(settings: RunSettings, hidden: int) -> RunSettings:
    return settings.with_values(**_both(settings, "hidden", hidden))


def _both(settings: RunSettings, key: str, value: int) -> dict[str, int]:
    """Of the encoder and, where there is one that has it, of the decoder."""
    own = {f"backbone.{key}": value}
    if settings.decoder is not None and settings.decoder.settings.has(key):
        own[f"decoder.{key}"] = value
    return own


def _unit(settings: RunSettings) -> int:
    """Widths come in multiples of this: heads must divide them evenly."""
    for hidden in range(1, 4097):
        try:
            _wide(settings, hidden)
            return hidden
        except UsageError:
            continue
    raise UsageError(f"no width suits the settings of {settings.backbone.name}.")


def _bisect(size: Callable[[int], int], target: float, most: int) -> int:
    """The largest number whose size is not above the target; 1 if there is none."""
    low, high = 1, 2
    while high < most and size(high) <= target:
        low, high = high, high * 2
    high = min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= target else (low, middle)
    return low


def _closed(settings: RunSettings, size: Callable[[RunSettings], int], target: float) -> MatchedModel:
    """With the feed-forward width, where there is one, that brings the size nearest to the target."""
    if not settings.backbone.settings.has("feedforward"):
        return MatchedModel(settings, size(settings), target)

    def inner(width: int) -> RunSettings:
        return settings.with_values(**_both(settings, "feedforward", width))

    one, two = size(inner(1)), size(inner(2))
    best = inner(max(1, min(2**20, round(1 + (target - one) / (two - one)))))
    return MatchedModel(best, size(best), target)
