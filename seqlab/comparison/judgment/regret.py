"""What may be lost because learning rates were chosen from short trials on a grid."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from seqlab.comparison.judgment.verdicts import listed
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
    """How far the chosen trial is above the lowest point of a parabola through it and its neighbors.

    None if a neighbor is missing: the best rate may then lie far away."""
    points = sorted((trial.tried[RATE], trial.loss, trial.chosen) for trial in trials if trial.loss is not None)
    place = next((index for index, (*_, chosen) in enumerate(points) if chosen), 0)
    if not 0 < place < len(points) - 1:
        return None
    near = points[place - 1 : place + 2]
    rates, losses = [math.log(rate) for rate, *_ in near], [loss for _, loss, _ in near]
    curvature, slope, _ = np.polyfit(np.array(rates) - rates[1], np.array(losses) - losses[1], 2)
    return float(slope**2 / (4 * curvature)) if curvature > 0 else 0.0
