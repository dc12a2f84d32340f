"""Which example goes into which part.

Files that are given for a part fix it. What is dealt out goes by a fixed shuffle, as in splits.py, and equal inputs go
together, so that none stands on two sides. Within a part, examples keep the order of their file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.data.examples.example import Example, LabeledText
from seqlab.data.examples.lines import Placed, joined
from seqlab.data.text.split import ENDS, SHUFFLE_SEED
from seqlab.errors import DataError

FEWEST = 10  # different inputs, so that every share has one
SHUFFLED = "dealt out by a fixed shuffle, equal inputs together"

Part = Sequence[Placed[Example]]


@dataclass(frozen=True)
class Dealt:
    """Examples in parts, the rule in words, and what else there is to say."""

    splits: dict[str, Part]
    rule: str
    notes: tuple[str, ...] = ()


def deal(given: Mapping[str, Part], split: str) -> Dealt:
    """Parts from the examples that are given for `train`, and perhaps for `validation` and `test`."""
    if "validation" in given:
        return Dealt(dict(given), f"{' and '.join(part for part in given if part != 'train')} as given")
    if "test" in given:
        splits, notes = _shares(given["train"], "90/10")
        rule = f"test as given; validation is a tenth of the training examples, {SHUFFLED}"
        return Dealt({**splits, "test": given["test"]}, rule, notes)
    splits, notes = _shares(given["train"], split)
    return Dealt(splits, f"{split}, {SHUFFLED}", notes)


def _shares(placed: Part, split: str) -> tuple[dict[str, Part], tuple[str, ...]]:
    """Shares of the different inputs, as a rank in a shuffle of them decides."""
    numbers: dict[str, int] = {}
    number_N = [numbers.setdefault(one.example.input, len(numbers)) for one in placed]
    if len(numbers) < FEWEST:
        raise DataError(
            f"'{placed[0].place.path}' has {len(numbers)} different inputs in {len(placed)} examples; dealing out a "
            f"part to hold out needs at least {FEWEST}. Give more examples, or files for corpus.validation."
        )
    ends = {part: len(numbers) * tenths // 10 for part, tenths in ENDS[split].items()}
    rank_I = np.random.default_rng(SHUFFLE_SEED).permutation(len(numbers)).tolist()
    part_I = [next(part for part, end in ends.items() if rank < end) for rank in rank_I]
    lacking = _teach_every_label(placed, number_N, part_I)
    splits: dict[str, Part] = {
        part: [one for one, number in zip(placed, number_N, strict=True) if part_I[number] == part] for part in ends
    }
    for part in splits:
        if not splits[part]:
            raise DataError(
                f"'{placed[0].place.path}': nothing is left for the {part} part, since almost every example has a "
                f"label of its own ({joined(lacking, 5)}). Is the column of labels the right one?"
            )
    notes = f"labels that only a held-out share had were moved into the training part: {joined(lacking)}"
    return splits, (notes,) if lacking else ()


def _teach_every_label(placed: Part, number_N: Sequence[int], part_I: list[str]) -> list[str]:
    """Move inputs into training until it has all labels; the labels that it lacked."""
    labels_I: dict[int, list[str]] = {}
    for one, number in zip(placed, number_N, strict=True):
        if isinstance(one.example, LabeledText):
            labels_I.setdefault(number, []).append(one.example.label)
    taught = {label for number, labels in labels_I.items() if part_I[number] == "train" for label in labels}
    lacking: list[str] = []
    for number, labels in labels_I.items():
        missing = [label for label in dict.fromkeys(labels) if label not in taught]
        if missing:
            part_I[number] = "train"
            taught.update(missing)
            lacking += missing
    return lacking
