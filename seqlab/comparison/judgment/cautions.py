"""What to know before relying on a comparison, the most important first."""

from collections import Counter
from collections.abc import Iterator, Sequence

from seqlab.comparison.judgment.verdicts import BETTER, listed
from seqlab.comparison.results import Audited, Pair, RunResult

FEWEST_STRETCHES = 8  # independent ones, of text
MEMORIZED = 1.25  # validation loss over training loss, from which on a model is said to memorize
# by number of seeds
SEED_WARNINGS = {
    1: "One seed of {}: the noise of seeds is unknown, so the verdict is 'ahead on this text', never 'better'. "
    "Use three or more.",
    2: "Two seeds of {}: two say little about the noise of seeds, so intervals are wide and may be wrong. "
    "Use three or more.",
}


def cautions(runs: Sequence[RunResult], pairs: Sequence[Pair], baseline_pairs: Sequence[Pair], best: str) -> list[str]:
    """What the results themselves leave open; `best` is the recommended model."""
    return [
        *_baseline_warning(baseline_pairs, best),
        *seed_warnings(runs),
        *_text_warning(pairs),
        *_memorization_warning(runs),
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


def _text_warning(pairs: Sequence[Pair]) -> Iterator[str]:
    fewest = min((pair.units for pair in pairs), default=FEWEST_STRETCHES)
    if fewest < FEWEST_STRETCHES:
        yield (
            f"The held-out text counts as only {fewest} independent stretch{'es' if fewest > 1 else ''}, because "
            f"neighboring parts are alike: intervals are wide. Hold out more text, or scattered parts of it."
        )


def _memorization_warning(runs: Sequence[RunResult]) -> Iterator[str]:
    """Where the loss on training text is far below that on validation text, longer training does not help."""
    gaps: dict[str, list[float]] = {}
    for run in runs:
        at_best = next((point for point in run.curve if point["step"] >= run.best_step), None)
        if at_best and at_best["train_loss"] > 0:
            gaps.setdefault(run.name, []).append(at_best["validation_loss"] / at_best["train_loss"])
    names = [name for name, values in gaps.items() if sum(values) / len(values) > MEMORIZED]
    if names:
        yield (
            f"{listed(names)} {'memorize' if len(names) > 1 else 'memorizes'} the training data: the validation loss "
            f"is more than {MEMORIZED:g} times the training loss. More data, dropout or a smaller model may help; "
            f"longer training will not."
        )
