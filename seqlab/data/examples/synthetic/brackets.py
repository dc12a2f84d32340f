"""Brackets: which bracket closes next? The state has to hold the stack of open ones."""

import numpy as np

from seqlab.data.examples.example import Examples, TaggedSentence
from seqlab.data.examples.synthetic.sampling import SPLIT_RULE, Difficulty, draw_splits

OPENING = ("(", "[", "{", "<")
CLOSING = (")", "]", "}", ">")
NOTHING_OPEN = "none"
DIFFICULTY = Difficulty("brackets", "maximum depth", default=8, minimum=1, maximum=32)


def brackets(difficulty: int | None = None, seed: int = 0) -> Examples:
    """Prefixes of well-nested brackets, at most `difficulty` deep and about six times as long."""
    deepest, rng = DIFFICULTY.start(difficulty, seed)

    def draw() -> TaggedSentence:
        return nested(rng, int(rng.integers(4 * deepest, 8 * deepest + 1)), deepest)

    return Examples(
        name="brackets",
        splits=draw_splits(draw),
        rule=f"{4 * deepest} to {8 * deepest} brackets, opening and closing at random, {SPLIT_RULE}",
        about=f"brackets nested up to {deepest} deep; the tag is the bracket that closes next",
    )


def nested(rng: np.random.Generator, length: int, deepest: int) -> TaggedSentence:
    """Open and close with equal probability where both are possible."""
    stack: list[int] = []
    words, tags = [], []
    for step in rng.integers(0, 2 * len(OPENING), length).tolist():
        if not stack or (step < len(OPENING) and len(stack) < deepest):
            stack.append(step % len(OPENING))
            words.append(OPENING[stack[-1]])
        else:
            words.append(CLOSING[stack.pop()])
        tags.append(CLOSING[stack[-1]] if stack else NOTHING_OPEN)
    return TaggedSentence(tuple(words), tuple(tags))
