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
# stretches of each held-out split, and the fewest characters that each of them must have
STRETCHES = ((20, 2000), (10, 1000))
MIN_STRETCH = 1000  # of a text too short for those
MIN_STRETCHES = 2
MAX_GAP = 512  # characters: a window of 128 tokens of four characters


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
        """Whether the text is too short for the smallest usual number of stretches."""
        return self.count < STRETCHES[-1][0]

    def __str__(self) -> str:
        return f"{self.count} scattered stretches of {self.stretch:,} characters"


def scatter(characters: int, held_out: Sequence[str]) -> Scattering | None:
    """The ranges of `train` and the held-out splits; None if the text is too short for two stretches of each."""
    count = stretches_in(characters)
    if count < MIN_STRETCHES:
        return None
    stretch = characters // (SHARE * count)
    gap = min(MAX_GAP, stretch // 8)
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


def stretches_in(characters: int) -> int:
    """How many stretches each held-out split has."""
    share = characters // SHARE
    for count, least in STRETCHES:
        if share >= count * least:
            return count
    return share // MIN_STRETCH
