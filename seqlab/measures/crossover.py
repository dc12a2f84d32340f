"""Context lengths at which one model becomes slower than another at generation."""

import math
from collections.abc import Mapping
from itertools import combinations, pairwise

CLEAR = math.log(1.15)  # times that differ by less are as good as equal


def crossovers(seconds: Mapping[str, Mapping[int, float]]) -> list[str]:
    """A sentence for each pair of models whose order is clear at both ends and changes once in between.

    seconds: the time per token of each model, by context length."""
    sentences = []
    for a, b in combinations(seconds, 2):
        ratios = {n: math.log(seconds[a][n] / seconds[b][n]) for n in sorted(seconds[a].keys() & seconds[b].keys())}
        clear = [(length, ratio) for length, ratio in ratios.items() if abs(ratio) > CLEAR]
        changes = [(before, after) for before, after in pairwise(clear) if before[1] * after[1] < 0]
        if len(changes) == 1:
            ((short, before), (long, after)) = changes[0]
            length = math.exp(math.log(short) + math.log(long / short) * before / (before - after))
            first, second = (a, b) if before < 0 else (b, a)
            sentences.append(
                f"{first} generates faster than {second} up to about {round_to(length):,} tokens, then slower"
            )
    return sentences


def round_to(tokens: float, digits: int = 1) -> int:
    """Rounded to the few digits that interpolation between two lengths can justify."""
    return int(round(tokens, digits - 1 - math.floor(math.log10(tokens)))) if tokens >= 1 else 1
