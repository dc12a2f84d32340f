"""Models of equal size: first the hidden width is matched, then the feed-forward width closes the gap.

Layers, heads and the embedding keep their settings.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from seqlab.comparison.plan.request import Amount
from seqlab.config import RunSettings, VocabSizes
from seqlab.errors import UsageError
from seqlab.models.parameter_count import parameters
from seqlab.registry import TASKS

ONE_EACH = VocabSizes(1, 1, 1, 1)  # the core does not depend on the vocabulary
CLOSE = 0.01  # as a share of the target
WIDEST = 65_536
NEIGHBORS = 2  # widths to try on either side: sizes jump at the width of the embedding


@dataclass(frozen=True)
class MatchedModel:
    settings: RunSettings
    size: int
    target: float

    @property
    def gap(self) -> float:
        """The deviation from the target, as a share of the target."""
        return (self.size - self.target) / self.target


def match_size(settings: RunSettings, target: Amount, sizes: VocabSizes) -> MatchedModel:
    """The settings with the hidden width whose size is nearest to the target; `sizes` are those of the vocabularies."""

    def size_of(candidate: RunSettings) -> int:
        return SIZE_OF[target.kind](candidate, sizes)

    unit = _width_unit(settings)
    smallest = size_of(_with_hidden(settings, unit))
    if target.kind in ("total", "non-embedding") and smallest > (1 + CLOSE) * target.size:
        raise UsageError(
            f"the narrowest {settings.backbone.name} has {smallest:,} {UNITS[target.kind]} with a vocabulary of "
            f"{sizes.vocab_size:,}: --match {target} is too small. Choose a larger one, or a smaller --embedding."
        )
    widths = range(unit, WIDEST + 1, unit)
    # the largest width that is not above the target, and its neighbors
    at = max(0, bisect_right(widths, target.size, key=lambda width: size_of(_with_hidden(settings, width))) - 1)
    near = [_with_hidden(settings, width) for width in widths[max(0, at - NEIGHBORS) : at + 2 + NEIGHBORS]]
    near.sort(key=lambda candidate: abs(size_of(candidate) - target.size))
    matched = [_close_gap(candidate, size_of, target.size) for candidate in near]
    # the nearest width, unless its feed-forward layer cannot close the gap and a neighbor's can
    return next((model for model in matched if abs(model.gap) <= CLOSE), min(matched, key=lambda model: abs(model.gap)))


def core_parameters(settings: RunSettings, sizes: VocabSizes = ONE_EACH) -> int:
    """Everything but the token embedding, the output projection and a learned table of positions."""
    return parameters(settings, sizes).core


def total_parameters(settings: RunSettings, sizes: VocabSizes) -> int:
    return parameters(settings, sizes).total


def non_embedding_parameters(settings: RunSettings, sizes: VocabSizes) -> int:
    """Everything but the token embedding and a learned table of positions: core and output projection."""
    count = parameters(settings, sizes)
    return count.core + count.output


def core_flops(settings: RunSettings, sizes: VocabSizes = ONE_EACH) -> int:
    """FLOPs per token of the forward pass of all backbones, in sequences of the task's length."""
    import torch

    with torch.device("meta"):  # only shapes are needed
        model = TASKS.load(settings.task.name).build(settings, sizes)
    return model.core_flops(settings.task.settings.sequence_length)


SIZE_OF: dict[str, Callable[[RunSettings, VocabSizes], int]] = {
    "params": core_parameters,
    "total": total_parameters,
    "non-embedding": non_embedding_parameters,
    "flops": core_flops,
}
UNITS = {
    "params": "core parameters",
    "total": "parameters in total",
    "non-embedding": "parameters without the embedding",
    "flops": "FLOPs per token",
}


def _with_hidden(settings: RunSettings, hidden: int) -> RunSettings:
    return settings.with_values(**_encoder_and_decoder(settings, "hidden", hidden))


def _encoder_and_decoder(settings: RunSettings, key: str, value: int) -> dict[str, int]:
    changes = {f"backbone.{key}": value}
    if settings.decoder is not None and settings.decoder.settings.has(key):
        changes[f"decoder.{key}"] = value
    return changes


def _width_unit(settings: RunSettings) -> int:
    """Widths must be multiples of this, because heads divide them evenly."""
    for hidden in range(1, 4097):
        try:
            _with_hidden(settings, hidden)
            return hidden
        except UsageError:
            continue
    raise UsageError(f"no width suits the settings of {settings.backbone.name}.")


def _close_gap(settings: RunSettings, size_of: Callable[[RunSettings], int], target: float) -> MatchedModel:
    """Choose the feed-forward width, if there is one, that brings the size nearest to the target."""
    if not settings.backbone.settings.has("feedforward"):
        return MatchedModel(settings, size_of(settings), target)

    def with_feedforward(width: int) -> RunSettings:
        return settings.with_values(**_encoder_and_decoder(settings, "feedforward", width))

    # the size grows linearly with the feed-forward width
    first, second = size_of(with_feedforward(1)), size_of(with_feedforward(2))
    best = with_feedforward(max(1, min(2**20, round(1 + (target - first) / (second - first)))))
    return MatchedModel(best, size_of(best), target)
