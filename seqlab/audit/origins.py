"""Check of what a run started from: weights and teachers must not have seen what is held out here."""

from seqlab.audit.result import check
from seqlab.runs.run import Run
from seqlab.runs.seen_before import seen_before
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
    results = [seen_before(origin, dataset) for origin in chain]
    details = "; ".join(
        f"{origin['role']} '{origin['path']}' {found.detail}" for origin, found in zip(chain, results, strict=True)
    )
    if any(found.passed is False for found in results):
        return False, details
    return (None if any(found.passed is None for found in results) else True), details
