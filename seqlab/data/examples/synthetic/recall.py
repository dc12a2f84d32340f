"""Recall: which value came with this key? Attention looks it up; a state of fixed size has to hold every pair.

Multi-query associative recall (Arora et al. 2023, "Zoology"), with each pair as one word: one layer of attention then
finds the value, where a value in a word of its own takes two layers that are slow to learn to work together.
"""

from seqlab.data.examples.example import UNSCORED, Examples, TaggedSentence
from seqlab.data.examples.synthetic.sampling import DEALT, Difficulty, deal

KEYS = tuple(f"k{number}" for number in range(64))
VALUES = tuple(f"v{number}" for number in range(16))
DIFFICULTY = Difficulty("recall", "number of pairs", usual=24, least=2, most=len(KEYS))


def recall(difficulty: int | None = None, seed: int = 0) -> Examples:
    """`difficulty` pairs ("k3=v7") of different keys and any values, then the keys alone, tagged with their values."""
    pairs = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(pairs, seed)

    def draw() -> TaggedSentence:
        keys = [KEYS[at] for at in numbers.permutation(len(KEYS))[:pairs].tolist()]
        values = [VALUES[at] for at in numbers.integers(0, len(VALUES), pairs).tolist()]
        asked = numbers.permutation(pairs).tolist()
        return TaggedSentence(
            (*(f"{key}={value}" for key, value in zip(keys, values, strict=True)), *(keys[at] for at in asked)),
            (*(UNSCORED for _ in keys), *(values[at] for at in asked)),
        )

    return Examples(
        name="recall",
        splits=deal(draw),
        rule=f"keys, values and the order of the queries {DEALT}",
        about=f"{pairs} pairs of a key and a value, then the keys alone, to be tagged with their values",
    )
