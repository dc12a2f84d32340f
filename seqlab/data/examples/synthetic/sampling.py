"""What all generated corpora share: which difficulties there are, random numbers, and the dealing into parts.

Every input belongs to one part by its hash, whatever the seed and the difficulty: nothing that is held out in one
corpus is trained on in another of the same task.
"""

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from seqlab.data.examples.example import Example
from seqlab.errors import UsageError

E = TypeVar("E", bound=Example)

SIZES = {"train": 12_000, "validation": 500, "test": 1000}
EIGHTHS = (*["train"] * 6, "validation", "test")  # whose each eighth of all inputs is
DRAWS = 40_000  # then all there is has been found, or nearly
DEALT = "drawn at random, none twice; the hash of an input says whether it is for training (six in eight) or held out"


@dataclass(frozen=True)
class Difficulty:
    """The difficulties of a task: what the number counts, the usual one and the bounds."""

    task: str
    counts: str
    usual: int
    least: int
    most: int

    def chosen(self, difficulty: int | None) -> int:
        if difficulty is None:
            return self.usual
        if not self.least <= difficulty <= self.most:
            raise UsageError(
                f"'{self.task}' cannot be made with difficulty {difficulty}, which is its {self.counts}: "
                f"choose {self.least} to {self.most}, or leave it out for {self.usual}."
            )
        return difficulty

    def numbers(self, difficulty: int, seed: int) -> np.random.Generator:
        """Random numbers of this task, difficulty and seed alone."""
        if seed < 0:
            raise UsageError(f"'{self.task}' cannot be made with seed {seed}: choose 0 or more.")
        return np.random.default_rng([seed, difficulty, zlib.crc32(self.task.encode())])


def part_of(content: str) -> str:
    """The part that whatever has this content belongs to."""
    return EIGHTHS[hashlib.sha256(content.encode()).digest()[0] % 8]


def deal(
    draw: Callable[[], E],
    held: Callable[[E], str] = lambda example: example.input,
    scored: Callable[[E], bool] = lambda example: True,
) -> dict[str, list[E]]:
    """Different examples for each part, fewer where few exist. `held` is the content by which they are dealt, `scored`
    tells which may be held out."""
    found: dict[str, dict[str, E]] = {part: {} for part in SIZES}
    wanting = set(SIZES)
    for _ in range(DRAWS):
        example = draw()
        part = part_of(held(example))
        if part in wanting and (part == "train" or scored(example)):
            found[part].setdefault(example.input, example)
            if len(found[part]) == SIZES[part]:
                wanting.remove(part)
        if not wanting:
            break
    return {part: list(examples.values()) for part, examples in found.items()}
