"""How much of other data a run was trained on: a score on what it has seen says little about new data."""

import warnings
from collections.abc import Sequence

from seqlab.data.examples.checks import GIVEN
from seqlab.data.examples.example import Examples
from seqlab.data.examples.groups import Groups, known_groups
from seqlab.data.files import STANDARD_INPUT
from seqlab.data.near_copies import near_copied_examples
from seqlab.data.overlap import LITTLE, MAX_OVERLAP, Overlap, example_overlap, measure_overlap
from seqlab.errors import DataError, MissingInput, SeqlabWarning
from seqlab.runs.reopen import open_other
from seqlab.runs.run import Run


def trained_on(run: Run, sources: Sequence[str]) -> tuple[float | None, str]:
    """The share of this data that is in the training split of the run, and a sentence; None if not compared."""
    if STANDARD_INPUT in sources:
        return None, "Standard input is not compared with the training text."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)  # scoring has given those on this data; others are on the run's
        given = open_other(run.config, run.settings, run.vocabulary, sources).data
        try:
            training = run.dataset().data
        except (DataError, MissingInput) as error:
            return None, f"How much of this data was trained on is not known: {error}"
    if isinstance(given, Examples):
        splits = given.splits["whole"], training.splits["train"]
        same, near = (compare(*splits) for compare in (example_overlap, near_copied_examples))
        return same.share, _sentence(same, "examples") + _with_changes(same, near) + _of_known_groups(given, training)
    overlap = measure_overlap(given, "whole", training)
    return overlap.share, _sentence(overlap, "text")


def _sentence(overlap: Overlap, kind: str) -> str:
    if not overlap.checked:
        return f"This data is too short to be compared with the training {kind}."
    counts = f"({overlap.repeated:,} of {overlap.checked:,} {overlap.unit})"
    if not overlap.repeated:
        return f"None of this data is in the training {kind} {counts}."
    share = f"{overlap.share:.0%}" if overlap.share >= 0.01 else f"{overlap.share:.1%}"
    return f"{share} of this data is in the training {kind} {counts}{_warning(overlap)}."


def _with_changes(same: Overlap, near: Overlap) -> str:
    """Nothing where hardly more is copied with small changes than as it is."""
    if near.share < same.share + LITTLE:
        return ""
    counts = f"({near.repeated:,} of {near.checked:,} {near.unit})"
    return f" With small changes, {near.share:.0%} of it is {counts}{_warning(near)}."


def _of_known_groups(given: Examples, training: Examples) -> str:
    """Nothing without a column of groups, or if all groups are new."""
    if given.groups is None or training.groups is None:
        return ""
    column = training.groups.column
    same = [group and group._replace(column=column) for group in given.groups.splits["whole"]]  # perhaps in other case
    groups = Groups(column, {"train": training.groups.splits["train"], GIVEN: same})
    belong = Overlap("examples", len(groups.splits[GIVEN]), groups.shared(GIVEN))
    return f" {known_groups(groups)}{_warning(belong)}." if belong.repeated else ""


def _warning(overlap: Overlap) -> str:
    return ": new data will be harder" if overlap.share >= MAX_OVERLAP else ""
