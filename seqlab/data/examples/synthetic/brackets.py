"""Brackets: which one has to close next? What is open is a stack, which the state has to hold."""

import numpy as np

from seqlab.data.examples.example import Examples, TaggedSentence
from seqlab.data.examples.synthetic.sampling import DEALT, Difficulty, deal

OPENING = ("(", "[", "{", "<")
CLOSING = (")", "]", "}", ">")
NOTHING_OPEN = "none"
DIFFICULTY = Difficulty("brackets", "greatest depth", usual=8, least=1, most=32)


def brackets(difficulty: int | None = None, seed: int = 0) -> Examples:
    """Beginnings of well-nested brackets, at most `difficulty` open at once and about six times as long."""
    deepest = DIFFICULTY.chosen(difficulty)
    numbers = DIFFICULTY.numbers(deepest, seed)

    def draw() -> TaggedSentence:
        return nested(numbers, int(numbers.integers(4 * deepest, 8 * deepest + 1)), deepest)

    return Examples(
        name="brackets",
        splits=deal(draw),
        rule=f"{4 * deepest} to {8 * deepest} brackets, opening and closing at random, {DEALT}",
        about=f"brackets nested up to {deepest} deep, each to be tagged with the one that has to close next",
    )


def nested(numbers: np.random.Generator, length: int, deepest: int) -> TaggedSentence:
    """Opens as often as it closes, where both are possible."""
    stack: list[int] = []
    words, tags = [], []
    for step in numbers.integers(0, 2 * len(OPENING), length).tolist():
        if not stack or (step < len(OPENING) and len(stack) < deepest):
            stack.append(step % len(OPENING))
            words.append(OPENING[stack[-1]])
        else:
            words.append(CLOSING[stack.pop()])
        tags.append(CLOSING[stack[-1]] if stack else NOTHING_OPEN)
    return TaggedSentence(tuple(words), tuple(tags))
