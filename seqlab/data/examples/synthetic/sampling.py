"""What all generated corpora share: difficulties, random numbers, and the assignment to splits.

The hash of an input assigns it to a split, whatever the seed and the difficulty: no input that one corpus holds out is
trained on in another of the same task.
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
EIGHTHS = (*["train"] * 6, "validation", "test")  # the split of each eighth of all inputs
DRAWS = 40_000  # enough to find nearly all examples of a small corpus
SPLIT_RULE = (
    "drawn at random without repeats; the hash of an input assigns it to training (six in eight) or held-out data"
)


@dataclass(frozen=True)
class Difficulty:
    """The difficulties of a corpus: what the number counts, its default and its bounds."""

    corpus: str
    counts: str
    default: int
    minimum: int
    maximum: int

    def start(self, difficulty: int | None, seed: int) -> tuple[int, np.random.Generator]:
        """The difficulty, by default `default`, and random numbers that depend on it, the corpus and the seed only."""
        difficulty = self.default if difficulty is None else difficulty
        if not self.minimum <= difficulty <= self.maximum:
            raise UsageError(
                f"the difficulty of '{self.corpus}', its {self.counts}, cannot be {difficulty}: "
                f"choose {self.minimum} to {self.maximum}, or leave it out for {self.default}."
            )
        if seed < 0:
            raise UsageError(f"the seed of '{self.corpus}' cannot be {seed}: choose 0 or more.")
        return difficulty, np.random.default_rng([seed, difficulty, zlib.crc32(self.corpus.encode())])


def split_of(content: str) -> str:
    """The split that an input with this content belongs to."""
    return EIGHTHS[hashlib.sha256(content.encode()).digest()[0] % 8]


def draw_splits(
    draw: Callable[[], E],
    content: Callable[[E], str] = lambda example: example.input,
    may_be_held_out: Callable[[E], bool] = lambda example: True,
) -> dict[str, list[E]]:
    """Distinct examples for each split, fewer if few exist; `content` is what the hash is taken of."""
    splits: dict[str, dict[str, E]] = {split: {} for split in SIZES}
    incomplete = set(SIZES)
    for _ in range(DRAWS):
        example = draw()
        split = split_of(content(example))
        if split in incomplete and (split == "train" or may_be_held_out(example)):
            splits[split].setdefault(example.input, example)
            if len(splits[split]) == SIZES[split]:
                incomplete.remove(split)
        if not incomplete:
            break
    return {split: list(examples.values()) for split, examples in splits.items()}
