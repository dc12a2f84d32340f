"""What to know before relying on a comparison, the most important first."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

from seqlab.comparison.judgment.verdicts import BETTER, listed
from seqlab.comparison.plan.warnings import FEWEST_STRETCHES
from seqlab.comparison.results import Audited, Pair, RunResult
from seqlab.runs.looks import Look, describe_looks
from seqlab.runs.loss_gap import LossGap, final_gap, loss_caution
from seqlab.wording import counted

# by number of seeds
SEED_WARNINGS = {
    1: "One seed of {}: the noise of seeds is unknown, so the verdict is 'ahead on this data', never 'better'. "
    "Use three or more.",
    2: "Two seeds of {}: two say little about the noise of seeds, so intervals are wide and may be wrong. "
    "Use three or more.",
}


def cautions(
    runs: Sequence[RunResult], pairs: Sequence[Pair], baseline_pairs: Sequence[Pair], best: str, examples: int | None
) -> list[str]:
    """What the results themselves leave open; `best` is recommended, `examples` are held out (None: text)."""
    return [
        *_baseline_warning(baseline_pairs, best),
        *seed_warnings(runs),
        *_units_warning(pairs, examples),
        *_loss_warning(runs),
    ]


def audit_warnings(audits: Sequence[Audited]) -> list[str]:
    """A sentence for each check that failed, with the models that failed it: nothing matters more."""
    failed: dict[str, list[tuple[str, str]]] = {}
    for audited in audits:
        for check in audited.checks:
            if check.failed:
                failed.setdefault(check.name, []).append((audited.name, check.detail))
    return [
        f"The audit failed for {listed([model for model, _ in models])}, check '{name}': {models[0][1].rstrip('.')}."
        for name, models in failed.items()
    ]


def look_warning(looks: Sequence[Look]) -> Iterator[str]:
    """A test split that was looked at before is no longer new."""
    if len(looks) > 1:
        yield (
            f"The test split was looked at {len(looks)} times, by {describe_looks(looks)}: the more often results are "
            f"chosen by it, the better they look by chance. New test data would tell."
        )


def seed_warnings(runs: Sequence[RunResult]) -> list[str]:
    """What too few seeds leave open."""
    counts = Counter(run.name for run in runs)
    names = {count: [name for name in counts if counts[name] == count] for count in SEED_WARNINGS}
    return [warning.format(listed(names[count])) for count, warning in SEED_WARNINGS.items() if names[count]]


def _baseline_warning(pairs: Sequence[Pair], best: str) -> Iterator[str]:
    """A baseline that needs no training may be as good as the recommended model."""
    for pair in pairs:
        if best not in (pair.a, pair.b) or (pair.a == best and pair.verdict == BETTER):
            continue
        baseline = pair.b if pair.a == best else pair.a
        if pair.a == baseline and pair.verdict == BETTER:
            yield f"The baseline {baseline}, which needs no training, is better than {best}, the best of the models."
        else:
            yield (
                f"{best}, the best of the models, is not shown to be better than the baseline {baseline}, which needs "
                f"no training."
            )


def _units_warning(pairs: Sequence[Pair], examples: int | None) -> Iterator[str]:
    fewest = min((pair.units for pair in pairs), default=FEWEST_STRETCHES)
    if fewest >= FEWEST_STRETCHES:
        return
    if examples is None:
        yield (
            f"The held-out text counts as only {counted(fewest, 'independent stretch', 'independent stretches')}, "
            f"because it is short or its neighboring parts are alike: intervals are wide. Hold out more text."
        )
    else:
        yield (
            f"The {examples:,} held-out examples count as only {fewest} independent, because they are few or "
            f"those that follow each other are alike: intervals are wide. Hold out more examples."
        )


def _loss_warning(runs: Sequence[RunResult]) -> Iterator[str]:
    """Training that diverged, or a loss on training data far below that on validation data; means over seeds."""
    gaps: dict[str, list[LossGap]] = {}
    for run in runs:
        if gap := final_gap(run.curve):
            gaps.setdefault(run.name, []).append(gap)
    for name, of_seeds in gaps.items():
        means = fmean(gap.training for gap in of_seeds), fmean(gap.validation for gap in of_seeds)
        first = fmean(gap.first for gap in of_seeds)
        if caution := loss_caution(name, LossGap(*means, all(gap.improving for gap in of_seeds), first)):
            yield caution
