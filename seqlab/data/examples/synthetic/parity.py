"""Parity: is the number of ones so far odd? A recurrent network needs one bit of state; attention finds it hard."""

from itertools import accumulate

from seqlab.data.examples.example import Examples, TaggedSentence
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

BITS = ("0", "1")
PARITIES = ("even", "odd")
DIFFICULTY = Difficulty("parity", "maximum length", default=64, minimum=8, maximum=200)


def parity(difficulty: int | None = None, seed: int = 0) -> Examples:
    """Up to `difficulty` bits, each tagged with the parity of the ones up to and including it."""
    longest, rng = DIFFICULTY.start(difficulty, seed)

    def draw() -> TaggedSentence:
        bits = rng.integers(0, 2, rng.integers(1, longest + 1)).tolist()
        return TaggedSentence(
            tuple(BITS[bit] for bit in bits),
            tuple(PARITIES[ones % 2] for ones in accumulate(bits)),
        )

    return Examples(
        name="parity",
        splits=draw_splits(draw, may_be_held_out=lambda tagged: len(tagged.words) >= longest // 2),
        rule=f"bits {SPLIT_RULE}; 1 to {longest} of them in training, {longest // 2} to {longest} held out",
        about=f"up to {longest} bits; the tag says whether the number of ones so far is even or odd",
    )
