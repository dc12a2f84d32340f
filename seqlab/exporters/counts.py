"""Counts have no form outside seqlab: a mixed model is not exported."""

from seqlab.errors import UsageError
from seqlab.runs.run import Run


def refuse_mixture(run: Run) -> None:
    """UsageError for a model that predicts together with counts."""
    if run.model.mixture is not None:
        raise UsageError(
            f"'{run.path}' is mixed with counts (task.mix=counts), which an exported model cannot look up. Export a "
            f"run that was trained without --mix counts."
        )
