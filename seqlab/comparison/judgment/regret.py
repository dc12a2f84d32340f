"""What may be lost because learning rates were chosen from short trials on a grid."""

from collections.abc import Iterator, Sequence

from seqlab.comparison.judgment.verdicts import listed
from seqlab.comparison.plan.trials import lowest_point
from seqlab.comparison.results import Pair, Trial

RATE = "train.lr"


def tuning_warnings(trials: Sequence[Trial], horizon: float, pairs: Sequence[Pair], unit: str) -> Iterator[str]:
    """The estimated regret of every entrant, and the pairs that differ by no more; none without a grid of rates.

    `horizon` is the length of a trial as a share of a run."""
    names = list(dict.fromkeys(trial.name for trial in trials if list(trial.tried) == [RATE]))
    regrets = {name: grid_regret([trial for trial in trials if trial.name == name]) for name in names}
    known = {name: regret for name, regret in regrets.items() if regret is not None}
    if not known:
        return
    shown = ", ".join(f"{name} {regret:.3f}" for name, regret in known.items())
    length = f"trials of {horizon:.0%} of the steps" if horizon < 1 else "trials"
    sentence = (
        f"Learning rates were chosen from {length}. By the shape of the losses around the choice, the best rate "
        f"between those that were tried could lower them by this much ({unit}): {shown}. No interval contains this"
    )
    close = [
        f"{pair.a} and {pair.b}"
        for pair in pairs
        if 0 < pair.difference <= max(known.get(pair.a, 0), known.get(pair.b, 0))
    ]
    yield f"{sentence}; {listed(close)} differ by no more than that." if close else f"{sentence}."


def grid_regret(trials: Sequence[Trial]) -> float | None:
    """How far the chosen trial is above the lowest point of the losses around it; None if that is unknown."""
    valley = lowest_point(trials)
    return None if valley is None else valley[1]
