"""How much of other data a run was trained on: a score on what it has seen says little about new data."""

import warnings
from collections.abc import Sequence
from typing import Any

from seqlab.data.corpora.large_text import LargeText
from seqlab.data.examples.checks import GIVEN
from seqlab.data.examples.example import Examples
from seqlab.data.examples.groups import Groups, known_groups
from seqlab.data.files import STANDARD_INPUT
from seqlab.data.near_copies import near_copied_examples
from seqlab.data.overlap import (
    LITTLE,
    LONG_LINE,
    MAX_OVERLAP,
    Overlap,
    example_overlap,
    known_lines,
    measure_overlap,
)
from seqlab.errors import DataError, MissingInput, SeqlabError, SeqlabWarning
from seqlab.runs.reopen import open_other
from seqlab.runs.run import Run
from seqlab.runs.seen_before import ROLES, overlap_with, training_data

HARDER = "new data will be harder"
MOST = 0.5  # the share of lines that are known in another order, from which it is said: some are equal by chance


def trained_on(run: Run, sources: Sequence[str]) -> tuple[float | None, str]:
    """The share of this data that is in the training split of the run, and a sentence, which is also a warning if it is
    much; None if not compared."""
    if STANDARD_INPUT in sources:
        return None, "Standard input is not compared with the training text."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)  # scoring has given those on this data; others are on the run's
        given = open_other(run.config, run.settings, run.vocabulary, sources).data
        try:
            training = run.dataset().data
        except (DataError, MissingInput) as error:
            return None, f"How much of this data was trained on is not known: {error}"
        seen_before = [_of_origin(origin, given) for origin in _other_origins(run)]
    shares, sentences = zip(_of_the_run(given, training), *seen_before, strict=True)
    share, note = max(shares), " ".join(filter(None, sentences))
    if share >= MAX_OVERLAP:
        warnings.warn(note, SeqlabWarning, stacklevel=3)
    return share, note


def _of_the_run(given: Any, training: Any) -> tuple[float, str]:
    if isinstance(given, Examples):
        splits = given.splits["whole"], training.splits["train"]
        same, near = (compare(*splits) for compare in (example_overlap, near_copied_examples))
        return same.share, _sentence(same, "examples") + _with_changes(same, near) + _of_known_groups(given, training)
    overlap = measure_overlap(given, "whole", training)
    in_order = _sentence(overlap, "text")
    if training.by_lines or isinstance(training, LargeText) or isinstance(given, LargeText):
        return overlap.share, in_order
    lines = known_lines(given, training)
    if lines.share < max(MOST, overlap.share + LITTLE):
        return overlap.share, in_order
    counts = f"({lines.repeated:,} of {lines.checked:,} of {LONG_LINE} characters or more)"
    return lines.share, f"{in_order} In another order, {_part(lines)} of its lines are {counts}{_warning(lines)}."


def _other_origins(run: Run) -> list[dict[str, Any]]:
    """The runs that the weights or targets of this one come from, the nearest first, that have other training data."""
    by_data: dict[str | None, dict[str, Any]] = {}
    for origin in run.config.get("origins", []):
        by_data.setdefault(origin["training_fingerprint"] or origin["path"], origin)
    by_data.pop(run.config.get("training_fingerprint"), None)
    return [*by_data.values()]


def _of_origin(origin: dict[str, Any], given: Any) -> tuple[float, str]:
    name = f"what '{origin['path']}', {ROLES[origin['role']]}, was trained on"
    try:
        overlap = overlap_with(given, "whole", training_data(origin))
    except SeqlabError as error:
        return 0.0, f"Whether any of it is in {name}, is not known: {error}"
    if not overlap.checked:
        return 0.0, ""
    counts = f"({overlap.repeated:,} of {overlap.checked:,} {overlap.unit})"
    return overlap.share, f"{_part(overlap)} of it is in {name} {counts}{_warning(overlap)}."


def _sentence(overlap: Overlap, kind: str) -> str:
    if not overlap.checked:
        return f"This data is too short to be compared with the training {kind}."
    counts = f"({overlap.repeated:,} of {overlap.checked:,} {overlap.unit})"
    return f"{_part(overlap)} of this data is in the training {kind} {counts}{_warning(overlap)}."


def _part(overlap: Overlap) -> str:
    if not overlap.repeated:
        return "None"
    return f"{overlap.share:.0%}" if overlap.share >= 0.01 else f"{overlap.share:.1%}"


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
    return f": {HARDER}" if overlap.share >= MAX_OVERLAP else ""
