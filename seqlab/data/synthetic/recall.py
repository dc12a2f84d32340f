"""Recall: which value came with this key? Attention looks it up; a state of fixed size must hold every pair.

Multi-query associative recall (Arora et al. 2023, "Zoology"): pairs of a key and a value, then keys as queries.
"""

from seqlab.data.examples import UNSCORED, Examples, Tagged
from seqlab.data.synthetic.drawing import DEALT, Difficulty, deal

KEYS = tuple(f"k{number}" for number in range(32))
VALUES = tuple(f"v{number}" for number in range(32))
DIFFICULTY = Difficulty("recall", "number of pairs", usual=16, least=2, most=len(KEYS))


def recall(difficulty: int | None = None, seed: int = 0) -> Examples:
    """`difficulty` pairs of different keys and any values, then each key again, tagged with its value."""
    most = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(most, seed)

    def draw(part: str) -> Tagged:
        pairs = int(numbers.integers(1, most + 1)) if part == "train" else most
        keys = numbers.permutation(len(KEYS))[:pairs].tolist()
        values = numbers.integers(0, len(VALUES), pairs).tolist()
        order = numbers.permutation(pairs).tolist()
        told = [word for key, value in zip(keys, values, strict=True) for word in (KEYS[key], VALUES[value])]
        return Tagged(
            (*told, *(KEYS[keys[at]] for at in order)),
            (*(UNSCORED for _ in told), *(VALUES[values[at]] for at in order)),
        )

    return Examples(
        name="recall",
        parts=deal(draw),
        rule=f"keys and values {DEALT}; 1 to {most} pairs in training, {most} held out",
        about=f"{most} pairs of a key and a value, then the keys in another order, to be tagged with their values",
    )
