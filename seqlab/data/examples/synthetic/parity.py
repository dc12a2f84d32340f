"""Parity: is the number of ones so far odd? One bit of state for a recurrent net, hard for attention."""

from itertools import accumulate

from seqlab.data.examples.example import Examples, TaggedSentence
from seqlab.data.examples.synthetic.sampling import DEALT, Difficulty, deal

BITS = ("0", "1")
PARITIES = ("even", "odd")
DIFFICULTY = Difficulty("parity", "greatest length", usual=64, least=8, most=200)


def parity(difficulty: int | None = None, seed: int = 0) -> Examples:
    """Up to `difficulty` bits, each tagged with the parity of the ones up to and including it."""
    longest = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(longest, seed)

    def draw() -> TaggedSentence:
        bits = numbers.integers(0, 2, numbers.integers(1, longest + 1)).tolist()
        return TaggedSentence(
            tuple(BITS[bit] for bit in bits),
            tuple(PARITIES[ones % 2] for ones in accumulate(bits)),
        )

    return Examples(
        name="parity",
        splits=deal(draw, scored=lambda tagged: len(tagged.words) >= longest // 2),
        rule=f"bits {DEALT}; 1 to {longest} of them in training, {longest // 2} to {longest} held out",
        about=f"up to {longest} bits, each to be tagged with whether the ones so far are even or odd",
    )
