"""Held-out stretches scattered over a text, from its length in characters alone.

Text is correlated over long stretches, so one contiguous held-out part is close to one observation. The text is divided
into equal cells, one for each held-out stretch, which lies in the middle of its cell; the held-out splits take turns.
Before and after each stretch, a gap belongs to no split. The rest is the training split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Range = tuple[int, int]  # characters: first, and one after the last

SHARE = 10  # a held-out split is one tenth of the text
MIN_STRETCH = 1000  # characters
MIN_STRETCHES, MAX_STRETCHES = 2, 20  # of each held-out split
FEW_STRETCHES = 10  # fewer are said to be few
MIN_GAP, MAX_GAP = 128, 512  # characters: a window of 128 tokens of one character, or of four


@dataclass(frozen=True)
class Scattering:
    """The ranges of every split, in the order of the text."""

    ranges: dict[str, list[Range]]
    count: int  # stretches of each held-out split
    stretch: int  # characters of each
    gap: int  # characters before and after each

    @property
    def unused(self) -> int:
        """Characters in gaps."""
        return 2 * self.gap * self.count * (len(self.ranges) - 1)

    @property
    def is_sparse(self) -> bool:
        """Whether the text is too short for many stretches."""
        return self.count < FEW_STRETCHES

    def __str__(self) -> str:
        return f"{self.count} scattered stretches of {self.stretch:,} characters"


def scatter(characters: int, held_out: Sequence[str]) -> Scattering | None:
    """The ranges of `train` and the held-out splits; None if the text is too short for two stretches of each."""
    count = min(MAX_STRETCHES, characters // SHARE // MIN_STRETCH)
    if count < MIN_STRETCHES:
        return None
    stretch = characters // (SHARE * count)
    gap = max(MIN_GAP, min(MAX_GAP, stretch // 8))
    cells = count * len(held_out)
    ranges: dict[str, list[Range]] = {"train": [], **{name: [] for name in held_out}}
    bounds = [0]  # where training text begins and ends, in turn
    for cell, (first, last) in enumerate(pairwise(characters * at // cells for at in range(cells + 1))):
        begin = first + (last - first - stretch) // 2
        ranges[held_out[cell % len(held_out)]].append((begin, begin + stretch))
        bounds += [begin - gap, begin + stretch + gap]
    bounds.append(characters)
    ranges["train"] = list(zip(bounds[::2], bounds[1::2], strict=True))
    return Scattering(ranges, count, stretch, gap)
