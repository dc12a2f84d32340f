"""Adding: the sum of two marked digits, one in each half of the sequence.

The adding problem of Hochreiter & Schmidhuber (1997), with digits instead of real numbers and the sum as a label. The
model has to remember the marked digits over a long lag.
"""

from seqlab.data.examples.example import Examples, LabeledText
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

DIGITS = tuple("0123456789")
MARK = "*"
DIFFICULTY = Difficulty("adding", "length", default=50, minimum=4, maximum=500)


def adding(difficulty: int | None = None, seed: int = 0) -> Examples:
    """`difficulty` digits, two of them marked ("7*"), and the sum of these two."""
    length, rng = DIFFICULTY.start(difficulty, seed)

    def draw() -> LabeledText:
        digits = rng.integers(0, 10, length).tolist()
        marked = int(rng.integers(0, length // 2)), int(rng.integers(length // 2, length))
        words = [DIGITS[digit] for digit in digits]
        for index in marked:
            words[index] += MARK
        return LabeledText(" ".join(words), str(sum(digits[index] for index in marked)))

    return Examples(
        name="adding",
        splits=draw_splits(draw),
        rule=f"digits and marks {SPLIT_RULE}",
        about=f"the sum of two marked digits among {length}",
    )
