"""Where one model that writes becomes slower than another."""

import math
from collections.abc import Mapping
from itertools import combinations, pairwise


def crossovers(late: Mapping[str, Mapping[int, float]]) -> list[str]:
    """Of each two, where the one that writes faster in a short text becomes the slower one.

    Given are the seconds of a token by the length that stands there already."""
    said = []
    for one, other in combinations(late, 2):
        shared = sorted(late[one].keys() & late[other].keys())
        for short, long in pairwise(shared):
            before, after = (math.log(late[one][at] / late[other][at]) for at in (short, long))
            if before * after < 0:
                at = math.exp(math.log(short) + math.log(long / short) * before / (before - after))
                first, second = (one, other) if before < 0 else (other, one)
                said.append(f"{first} writes faster than {second} up to about {round_to(at):,} tokens, then slower")
    return said


def round_to(tokens: float, digits: int = 1) -> int:
    """What two measured points can tell of the place between them."""
    return int(round(tokens, digits - 1 - math.floor(math.log10(tokens)))) if tokens >= 1 else 1
