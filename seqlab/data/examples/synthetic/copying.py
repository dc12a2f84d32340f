"""Copying: repeat a sequence. A model that encodes its source in one vector of fixed size gets worse with length."""

import numpy as np

from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

LETTERS = tuple("abcdefghijklmnop")
DIFFICULTY = Difficulty("copy", "maximum length", default=20, minimum=2, maximum=200)


def copy(difficulty: int | None = None, seed: int = 0) -> Examples:
    """1 to `difficulty` letters and the same letters again."""
    longest = DIFFICULTY.check(difficulty)
    rng = DIFFICULTY.generator(longest, seed)

    def draw() -> TextPair:
        source = " ".join(letters(rng, longest))
        return TextPair(source, source)

    return Examples(
        name="copy",
        splits=draw_splits(draw),
        rule=f"letters and lengths {SPLIT_RULE}",
        about=f"copy 1 to {longest} of {len(LETTERS)} letters",
    )


def letters(rng: np.random.Generator, longest: int) -> list[str]:
    """Random letters; all lengths are equally likely."""
    length = rng.integers(1, longest + 1)
    return [LETTERS[at] for at in rng.integers(0, len(LETTERS), length).tolist()]
