"""Reversing: like copying, but the last symbol comes first."""

from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.synthetic.copying import LETTERS, letters
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

DIFFICULTY = Difficulty("reverse", "maximum length", default=20, minimum=2, maximum=200)


def reverse(difficulty: int | None = None, seed: int = 0) -> Examples:
    """1 to `difficulty` letters and the same letters from the last to the first."""
    longest = DIFFICULTY.check(difficulty)
    rng = DIFFICULTY.generator(longest, seed)

    def draw() -> TextPair:
        words = letters(rng, longest)
        return TextPair(" ".join(words), " ".join(reversed(words)))

    return Examples(
        name="reverse",
        splits=draw_splits(draw),
        rule=f"letters and lengths {SPLIT_RULE}",
        about=f"reverse 1 to {longest} of {len(LETTERS)} letters",
    )
