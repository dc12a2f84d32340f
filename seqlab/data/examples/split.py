"""Which example goes into which split.

Files given for a split fix it. Otherwise a fixed shuffle assigns the examples, as in text/split.py, and equal inputs
stay together. Within a split, examples keep the order of their file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.lines import LocatedExamples, quote_list
from seqlab.data.text.split import SHUFFLE_SEED, SPLIT_ENDS
from seqlab.errors import DataError

MIN_INPUTS = 10  # distinct ones, so that every split gets one
SHUFFLED = "assigned by a fixed shuffle that keeps equal inputs together"


@dataclass(frozen=True)
class ExampleSplits:
    """Examples in splits, the rule in words, and notes for the log."""

    splits: dict[str, LocatedExamples]
    rule: str
    notes: tuple[str, ...] = ()


def split_examples(files: Mapping[str, LocatedExamples], ratios: str) -> ExampleSplits:
    """Splits from the examples of the files for `train`, and perhaps for `validation` and `test`."""
    if "validation" in files:
        held_out = " and ".join(split for split in files if split != "train")
        return ExampleSplits(dict(files), f"{held_out} from files")
    if "test" in files:
        splits, notes = _shuffle(files["train"], "90/10")
        rule = f"test from files; validation is a tenth of the training examples, {SHUFFLED}"
        return ExampleSplits({**splits, "test": files["test"]}, rule, notes)
    splits, notes = _shuffle(files["train"], ratios)
    return ExampleSplits(splits, f"{ratios}, {SHUFFLED}", notes)


def _shuffle(examples: LocatedExamples, ratios: str) -> tuple[dict[str, LocatedExamples], tuple[str, ...]]:
    """Assign the distinct inputs (I) by their rank in a shuffle, and with them the examples (N)."""
    inputs: dict[str, int] = {}
    input_N = [inputs.setdefault(located.example.input, len(inputs)) for located in examples]
    if len(inputs) < MIN_INPUTS:
        raise DataError(
            f"'{examples[0].location.path}' has {len(inputs)} different inputs in {len(examples)} examples; splitting "
            f"needs at least {MIN_INPUTS}. Give more examples, or files for corpus.validation."
        )
    ends = {split: len(inputs) * tenths // 10 for split, tenths in SPLIT_ENDS[ratios].items()}
    rank_I = np.random.default_rng(SHUFFLE_SEED).permutation(len(inputs)).tolist()
    split_I = [next(split for split, end in ends.items() if rank < end) for rank in rank_I]
    moved = _move_missing_labels(examples, input_N, split_I)
    splits: dict[str, LocatedExamples] = {
        split: [located for located, index in zip(examples, input_N, strict=True) if split_I[index] == split]
        for split in ends
    }
    for split in splits:
        if not splits[split]:
            raise DataError(
                f"'{examples[0].location.path}': the {split} split would be empty, since almost every example has its "
                f"own label ({quote_list(moved, 5)}). Is this the right column of labels?"
            )
    note = f"moved examples into the training split, which had none with these labels: {quote_list(moved)}"
    return splits, (note,) if moved else ()


def _move_missing_labels(examples: LocatedExamples, input_N: Sequence[int], split_I: list[str]) -> list[str]:
    """Move inputs into training until it has every label; returns the labels that it lacked."""
    labels_I: dict[int, list[str]] = {}
    for located, index in zip(examples, input_N, strict=True):
        if isinstance(located.example, LabeledText):
            labels_I.setdefault(index, []).append(located.example.label)
    known = {label for index, labels in labels_I.items() if split_I[index] == "train" for label in labels}
    moved: list[str] = []
    for index, labels in labels_I.items():
        missing = [label for label in dict.fromkeys(labels) if label not in known]
        if missing:
            split_I[index] = "train"
            known.update(missing)
            moved += missing
    return moved
