"""Reversing: say a sequence backwards. As copying, but what was read last is needed first."""

from seqlab.data.examples.example import Examples, Pair
from seqlab.data.examples.synthetic.copying import LETTERS, letters
from seqlab.data.examples.synthetic.sampling import DEALT, Difficulty, deal

DIFFICULTY = Difficulty("reverse", "longest length", usual=20, least=2, most=200)


def reverse(difficulty: int | None = None, seed: int = 0) -> Examples:
    """1 to `difficulty` letters and the same letters from the last to the first."""
    longest = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(longest, seed)

    def draw() -> Pair:
        words = letters(numbers, longest)
        return Pair(" ".join(words), " ".join(reversed(words)))

    return Examples(
        name="reverse",
        splits=deal(draw),
        rule=f"letters and lengths {DEALT}",
        about=f"1 to {longest} of {len(LETTERS)} letters, to be said backwards",
    )
