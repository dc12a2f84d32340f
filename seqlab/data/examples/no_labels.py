"""Columns that hold no labels, whatever their values repeat: identifiers, constants, what an annotator accepted,
splits, measurements."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.data.split_files import SPLIT_WORDS

IDENTIFIER = re.compile(r"|unnamed: \d+|(.*[_ -])?(id|idx|index|uuid|guid)|row", re.IGNORECASE)
DECISIONS = {"accept", "reject", "ignore"}  # of annotators, in Prodigy's column "answer"
DECIMAL = re.compile(r"[-+]?\d*[.,]\d+([eE][-+]?\d+)?")
FEWEST_ROWS = 4  # in which labels differ
FEWEST_NUMBERS = 10  # different ones, that look measured


def is_identifier(name: str) -> bool:
    """Whether a column is named as one that numbers or identifies rows; pandas writes an index without a name."""
    return IDENTIFIER.fullmatch(name.strip()) is not None


def why_no_labels(rows: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """Why a column has no labels, in words; None if it may have some."""
    values = [str(row.get(name, "")).strip() for row in rows]
    different = {value for value in values if value}
    if is_identifier(name):
        return f"'{name}' tells rows apart"
    if len(different) == 1 and len(values) >= FEWEST_ROWS:
        return f"'{name}' is the same in all rows"
    if different and different <= DECISIONS:
        return f"'{name}' says what an annotator accepted"
    splits = {SPLIT_WORDS.get(value.casefold()) for value in different}
    if "train" in splits and None not in splits:
        return f"'{name}' says which rows are for training, validation or test"
    measured = len(different) >= FEWEST_NUMBERS and 2 * len(different) > len(values)
    if measured and all(map(DECIMAL.fullmatch, different)):
        return f"'{name}' has measured numbers, and there is no regression: divide them into a few ranges"
    return None
