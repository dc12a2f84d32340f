"""Copying: say a sequence again. A model that keeps its source in one vector of fixed size gets worse with length."""

import numpy as np

from seqlab.data.examples.example import Examples, Pair
from seqlab.data.examples.synthetic.sampling import DEALT, Difficulty, deal

LETTERS = tuple("abcdefghijklmnop")
DIFFICULTY = Difficulty("copy", "longest length", usual=20, least=2, most=200)


def copy(difficulty: int | None = None, seed: int = 0) -> Examples:
    """1 to `difficulty` letters and the same letters again."""
    longest = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(longest, seed)

    def draw() -> Pair:
        source = " ".join(letters(numbers, longest))
        return Pair(source, source)

    return Examples(
        name="copy",
        splits=deal(draw),
        rule=f"letters and lengths {DEALT}",
        about=f"1 to {longest} of {len(LETTERS)} letters, to be said again in the same order",
    )


def letters(numbers: np.random.Generator, longest: int) -> list[str]:
    """Any letters, every length from 1 being as likely."""
    length = numbers.integers(1, longest + 1)
    return [LETTERS[at] for at in numbers.integers(0, len(LETTERS), length).tolist()]
