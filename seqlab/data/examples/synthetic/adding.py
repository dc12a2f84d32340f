"""Adding: the sum of two marked digits, one in each half, far apart.

The adding problem of Hochreiter & Schmidhuber (1997), with digits instead of real numbers and the sum as a label. What
was marked has to be remembered over a long lag.
"""

from seqlab.data.examples.example import Examples, LabeledText
from seqlab.data.examples.synthetic.sampling import DEALT, Difficulty, deal

DIGITS = tuple("0123456789")
MARK = "*"
DIFFICULTY = Difficulty("adding", "length", usual=50, least=4, most=500)


def adding(difficulty: int | None = None, seed: int = 0) -> Examples:
    """`difficulty` digits, two of them marked ("7*"), and the sum of these two."""
    length = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(length, seed)

    def draw() -> LabeledText:
        digits = numbers.integers(0, 10, length).tolist()
        marked = int(numbers.integers(0, length // 2)), int(numbers.integers(length // 2, length))
        words = [DIGITS[digit] for digit in digits]
        for at in marked:
            words[at] += MARK
        return LabeledText(" ".join(words), str(sum(digits[at] for at in marked)))

    return Examples(
        name="adding",
        splits=deal(draw),
        rule=f"digits and marks {DEALT}",
        about=f"{length} digits, of which the two marked ones are to be added",
    )
