"""Whether the longest allowed length keeps a translator from writing what it should."""

import numpy as np

from seqlab.audit.result import check
from seqlab.runs.run import Run
from seqlab.tasks.translate import TranslateTask

MAX_CUT = 0.01  # share of a split's references: a single one may be longer than anything in training


@check("outputs may be as long as their references")
def cut_off(run: Run, task: TranslateTask) -> tuple[bool, str]:
    """References that no output can equal, because it would be cut off first; and how many outputs were cut off."""
    details: list[str] = []
    shares: list[float] = []
    for name, split in task.splits.items():
        if name != "train":
            limits_N = np.array([task.settings.target_limit(length) for length in split.input_lengths_N])
            longer = int((split.target_lengths_N - 1 > limits_N).sum())  # the begin token is not written
            shares.append(longer / len(split))
            details.append(f"{name}: {longer:,} of {len(split):,} references are longer")
    scored = run.results.validation if run.results else {}
    if "truncated" in scored:
        cut, count = int(scored["truncated"]), int(scored["sentences"])
        details.append(f"{cut:,} of {count:,} outputs were cut off on validation")
    return max(shares) < MAX_CUT, "; ".join(details)
