"""Recall: which value belongs to this key? Attention looks it up; a state of fixed size has to hold every pair.

Multi-query associative recall (Arora et al. 2023, "Zoology"), with each pair as one word, so one layer of attention
finds the value. A value in a word of its own takes two layers, which learn to cooperate slowly.
"""

from seqlab.data.examples.example import UNSCORED, Examples, TaggedSentence
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

KEYS = tuple(f"k{number}" for number in range(64))
VALUES = tuple(f"v{number}" for number in range(16))
DIFFICULTY = Difficulty("recall", "number of pairs", default=24, minimum=2, maximum=len(KEYS))


def recall(difficulty: int | None = None, seed: int = 0) -> Examples:
    """`difficulty` pairs ("k3=v7") of different keys and any values, then the keys alone, tagged with their values."""
    pairs, rng = DIFFICULTY.start(difficulty, seed)

    def draw() -> TaggedSentence:
        keys = [KEYS[index] for index in rng.permutation(len(KEYS))[:pairs].tolist()]
        values = [VALUES[index] for index in rng.integers(0, len(VALUES), pairs).tolist()]
        queries = rng.permutation(pairs).tolist()
        return TaggedSentence(
            (*(f"{key}={value}" for key, value in zip(keys, values, strict=True)), *(keys[index] for index in queries)),
            (*(UNSCORED for _ in keys), *(values[index] for index in queries)),
        )

    return Examples(
        name="recall",
        splits=draw_splits(draw),
        rule=f"keys, values and the order of the queries {SPLIT_RULE}",
        about=f"{pairs} pairs of a key and a value, then the keys alone; the tag is the value of the key",
    )
