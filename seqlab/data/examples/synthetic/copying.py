"""Copying and reversing: a model that encodes its source in one vector of fixed size gets worse with length."""

import numpy as np

from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

LETTERS = tuple("abcdefghijklmnop")


def copy(difficulty: int | None = None, seed: int = 0) -> Examples:
    """1 to `difficulty` letters and the same letters again."""
    return _rewriting("copy", 1, difficulty, seed)


def reverse(difficulty: int | None = None, seed: int = 0) -> Examples:
    """1 to `difficulty` letters and the same letters from the last to the first."""
    return _rewriting("reverse", -1, difficulty, seed)


def _rewriting(name: str, step: int, difficulty: int | None, seed: int) -> Examples:
    """Pairs of letters and the same letters, taken by `step`."""
    longest, rng = Difficulty(name, "maximum length", default=20, minimum=2, maximum=200).start(difficulty, seed)

    def draw() -> TextPair:
        words = letters(rng, longest)
        return TextPair(" ".join(words), " ".join(words[::step]))

    return Examples(
        name=name,
        splits=draw_splits(draw),
        rule=f"letters and lengths {SPLIT_RULE}",
        about=f"{name} 1 to {longest} of {len(LETTERS)} letters",
    )


def letters(rng: np.random.Generator, longest: int) -> list[str]:
    """Random letters; all lengths are equally likely."""
    length = rng.integers(1, longest + 1)
    return [LETTERS[index] for index in rng.integers(0, len(LETTERS), length).tolist()]
