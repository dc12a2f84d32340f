"""How often the test split was looked at: choosing by test scores is tuning on them."""

from seqlab.audit.result import check
from seqlab.runs.looks import describe_looks, looks_at
from seqlab.runs.origins import split_fingerprint
from seqlab.runs.run import Run
from seqlab.tasks.dataset import AnyDataset
from seqlab.wording import counted

MAX_LOOKS = 10  # the best of ten equal models already lies 1.5 standard errors above its true score


@check("the test split was looked at rarely")
def test_looks(run: Run, dataset: AnyDataset) -> tuple[bool | None, str]:
    """Comparisons and evaluations on the same test split, recorded in the folder of the run and beside it."""
    if "test" not in dataset.splits:
        return None, "there is no test split"
    looks = looks_at(run.path, split_fingerprint(dataset.data, "test"))
    detail = f"looked at {counted(len(looks), 'time')} (allowed: {MAX_LOOKS})"
    return len(looks) <= MAX_LOOKS, f"{detail}: {describe_looks(looks)}" if looks else detail
