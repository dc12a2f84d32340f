"""Whether what a run started from has seen what the run holds out: weights and targets remember it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqlab.data.alike import same_form
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.examples.example import Example, Examples
from seqlab.data.near_copies import near_copied_examples, near_copies
from seqlab.data.overlap import LITTLE, MAX_OVERLAP, WINDOW, Overlap, example_overlap, measure_overlap
from seqlab.data.text.split import SplitText
from seqlab.errors import SeqlabError
from seqlab.runs.load import load_parts
from seqlab.runs.origins import split_fingerprint
from seqlab.runs.reopen import read_again
from seqlab.tasks.dataset import AnyDataset

ROLES = {
    "init": "which this run starts from",
    "teacher": "which is its teacher",
    "miner": "which chooses its negatives",
}


@dataclass(frozen=True)
class SeenBefore:
    """What one run in the chain of --init and teachers was trained on, against the held-out splits of a dataset."""

    passed: bool | None  # None: unknown
    detail: str
    overlaps: dict[str, Overlap] = field(default_factory=dict[str, Overlap])  # by split


def seen_before(origin: dict[str, Any], dataset: AnyDataset) -> SeenBefore:
    """Compare the training split of one origin (origins.py) with what is held out."""
    if origin["training_fingerprint"] == split_fingerprint(dataset.data):
        return SeenBefore(True, "was trained on the same training split")
    try:
        seen = training_data(origin)
    except SeqlabError as error:
        if origin["fingerprint"] == dataset.fingerprint:
            return SeenBefore(False, f"was trained on another split of the same data ({origin['rule']})")
        return SeenBefore(None, f"cannot be compared: {error}")
    shared = {split: overlap_with(dataset.data, split, seen) for split in dataset.splits if split != "train"}
    counts = ", ".join(f"{overlap.share:.1%} of the {split} {overlap.unit}" for split, overlap in shared.items())
    passed = all(overlap.share < MAX_OVERLAP for overlap in shared.values())
    return SeenBefore(passed, f"was trained on {counts}", shared)


def seen_before_notes(chain: Sequence[dict[str, Any]], dataset: AnyDataset) -> list[str]:
    """For the log: held-out data that an origin was trained on, if it is more than a little."""
    notes: list[str] = []
    for origin in chain:
        name = f"'{origin['path']}', {ROLES[origin['role']]},"
        same = origin["training_fingerprint"] == split_fingerprint(dataset.data)
        if not same and (isinstance(dataset.data, LargeText) or _is_large(origin)):
            notes.append(f"what {name} was trained on was not compared with held-out text (seqlab audit does)")
            continue
        found = seen_before(origin, dataset)
        much = {split: overlap for split, overlap in found.overlaps.items() if overlap.share >= LITTLE}
        notes += [
            f"{'warning: ' * (overlap.share >= MAX_OVERLAP)}{split}: {overlap.repeated:,} of {overlap.checked:,} "
            f"{overlap.unit} ({overlap.share:.1%}) also occur in what {name} was trained on: {overlap.verdict}"
            for split, overlap in much.items()
        ]
        if found.passed is False and not much:
            notes.append(f"warning: {name} {found.detail}, so it has seen what is held out here")
        elif found.passed is None:
            notes.append(f"whether {name} was trained on held-out data is unknown: its data is gone or has changed")
    return notes


def _is_large(origin: dict[str, Any]) -> bool:
    """Whether reading its data again takes long."""
    try:
        return "sharded_files" in load_parts(Path(origin["path"]))[1]["corpus"]
    except SeqlabError:
        return False  # it is gone


def training_data(origin: dict[str, Any]) -> Any:
    """What an origin was trained on; a SeqlabError if that is gone or has changed."""
    return read_again(*load_parts(Path(origin["path"])))[0]


def overlap_with(data: Any, split: str, seen: Any) -> Overlap:
    """How much of a split what was seen has, word for word or with small changes, whichever is more."""
    if isinstance(data, Examples) and isinstance(seen, SplitText):
        return _inputs_in_text(data.splits[split], seen)
    if isinstance(data, Examples):
        inputs = seen.splits["train"] if isinstance(seen, Examples) else ()
        shares = [compare(data.splits[split], inputs) for compare in (example_overlap, near_copied_examples)]
    else:
        shares = [compare(data, split, seen) for compare in (measure_overlap, near_copies)]
    return max(shares, key=lambda overlap: overlap.share)


def _inputs_in_text(examples: Sequence[Example], seen: SplitText) -> Overlap:
    """How many inputs a running text has, of those that are too long to be in it by chance."""
    text = same_form("".join(seen.blocks("train")))
    inputs = [form for example in examples if len(form := same_form(example.input)) >= WINDOW]
    return Overlap("inputs", len(inputs), sum(form in text for form in inputs))
