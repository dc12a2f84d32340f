"""Parallel files in which lines slip: one file has a line too many, and the other one later, so that both have the same
number of lines and those between are paired with the wrong ones.

Long sentences have long translations. Where the lines slipped, lengths fit those of a line above or below instead."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from seqlab.wording import counted

SHIFTS = (1, -1, 2, -2, 3, -3)  # lines
OUTLIER = 2.5  # standard deviations, beyond which a length says no more
# How much better a line must fit on average: less than the correlation of lengths in real text, 0.8 in Multi30k.
MIN_BETTER = 0.25
# The sum over a stretch: in Multi30k, up to 8 in any order, and above 50 for 100 slipped lines.
MIN_GAIN = 25
MIN_FITTING = 0.5  # the correlation once the stretch is moved; without one, lengths tell nothing


class Slip(NamedTuple):
    """The first and last line of the source, from 1, whose partner is `shift` lines below its place."""

    first: int
    last: int
    shift: int


def slip_note(source: Sequence[str], target: Sequence[str], source_name: str, target_name: str) -> list[str]:
    """A note on lines that seem to be paired with the wrong ones."""
    if (slip := find_slip(source, target)) is None:
        return []
    longer, lines = target_name if slip.shift > 0 else source_name, counted(abs(slip.shift), "line")
    where = "below" if slip.shift > 0 else "above"
    return [
        f"{source_name} and {target_name} seem to slip: from about line {slip.first:,} to {slip.last:,}, lengths of "
        f"sources fit those of targets {lines} {where}. Look for {lines} too many in {longer} shortly before line "
        f"{slip.first:,}"
    ]


def find_slip(source: Sequence[str], target: Sequence[str]) -> Slip | None:
    """The stretch that fits best when it is moved; None if all lines seem to be in their places."""
    x_N, y_N = _standardized(source), _standardized(target)
    in_place_N = x_N * y_N
    best, largest = None, float(MIN_GAIN)
    for shift in SHIFTS:
        at = np.arange(max(0, -shift), min(len(x_N), len(x_N) - shift))
        moved = x_N[at] * y_N[at + shift]
        sums = np.concatenate([[0.0], np.cumsum(moved - in_place_N[at] - MIN_BETTER)])
        gains = sums - np.minimum.accumulate(sums)  # of the best stretch that ends there
        end = int(gains.argmax())
        if gains[end] <= largest:
            continue
        begin = int(sums[: end + 1].argmin())
        others = in_place_N.sum() - in_place_N[at[begin:end]].sum()
        if (moved[begin:end].sum() + others) >= MIN_FITTING * len(x_N):
            best, largest = Slip(int(at[begin]) + 1, int(at[end - 1]) + 1, shift), float(gains[end])
    return best


def _standardized(lines: Sequence[str]) -> np.ndarray:
    """The logarithms of lengths, with mean 0 and variance 1; zeros for lines of one length."""
    lengths_N = np.log1p([len(line) for line in lines])
    spread = lengths_N.std()
    return np.clip((lengths_N - lengths_N.mean()) / (spread or 1.0), -OUTLIER, OUTLIER)
