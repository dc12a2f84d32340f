"""Check of what a run started from: weights and teachers must not have seen what is held out here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqlab.analysis.near_copies import near_copied_examples, near_copies
from seqlab.audit.result import check
from seqlab.data.alike import same_form
from seqlab.data.examples.example import Example, Examples
from seqlab.data.overlap import MAX_OVERLAP, WINDOW, Overlap, example_overlap, measure_overlap
from seqlab.data.text.split import SplitText
from seqlab.errors import SeqlabError
from seqlab.runs.load import load_parts
from seqlab.runs.origins import split_fingerprint
from seqlab.runs.reopen import reopen
from seqlab.runs.run import Run
from seqlab.tasks.dataset import AnyDataset


def vocabulary_origin(run: Run) -> str | None:
    """The path of the run whose vocabulary this one took over."""
    own = run.vocabulary.fingerprint
    return next((one["path"] for one in run.config.get("origins", []) if one["tokenizer_fingerprint"] == own), None)


@check("what it started from saw no held-out data")
def origins(run: Run, dataset: AnyDataset) -> tuple[bool | None, str]:
    """Every run in the chain of --init and teachers: its training split, against the held-out splits of this run."""
    chain = run.config.get("origins", [])
    if not chain:
        return None, "config.json names no run that it started from, and no teacher"
    results = [_compare(origin, dataset) for origin in chain]
    details = "; ".join(detail for _, detail in results)
    if any(passed is False for passed, _ in results):
        return False, details
    return (None if any(passed is None for passed, _ in results) else True), details


def _compare(origin: dict[str, Any], dataset: AnyDataset) -> tuple[bool | None, str]:
    name = f"{origin['role']} '{origin['path']}'"
    if origin["training_fingerprint"] == split_fingerprint(dataset.data):
        return True, f"{name} was trained on the same training split"
    try:
        seen = _training_data(origin)
    except SeqlabError as error:
        if origin["fingerprint"] == dataset.fingerprint:
            return False, f"{name} was trained on another split of the same data ({origin['rule']})"
        return None, f"{name} cannot be compared: {error}"
    shared = {split: _overlap(dataset.data, split, seen) for split in dataset.splits if split != "train"}
    counts = ", ".join(f"{overlap.share:.1%} of the {split} {overlap.unit}" for split, overlap in shared.items())
    return all(overlap.share < MAX_OVERLAP for overlap in shared.values()), f"{name} was trained on {counts}"


def _training_data(origin: dict[str, Any]) -> Any:
    """What an origin was trained on; a SeqlabError if that is gone or has changed."""
    directory, config, settings, vocabulary = load_parts(Path(origin["path"]))
    return reopen(directory, config, settings, vocabulary).data


def _overlap(data: Any, split: str, seen: Any) -> Overlap:
    """Copied word for word, or with small changes, whichever is more."""
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
