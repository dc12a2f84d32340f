"""Equal tuning: every entrant tries the same settings in short trials; the best on validation is trained again."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqlab.comparison.plan.matching import match_size
from seqlab.comparison.plan.plan import PlannedModel
from seqlab.comparison.plan.request import Amount, ComparisonSettings
from seqlab.comparison.results import Trial
from seqlab.config import RunSettings

HORIZON = 0.2  # of a run's steps
FEWEST = 100  # steps of a trial, if the run has as many: shorter trials favor rates that are too high
SEED = 2**31  # of every trial, and of no run
MIDDLE = 10**-2.5  # of the grid of learning rates, a factor of √10 apart
APART = 10**0.5
MOST_GROWTHS = 3
LAYERS = (1, 2, 3, 4)
BATCH_FACTORS = (0.5, 1, 2)
DRAWN_SEED = 0

TrialSettings = dict[str, Any]


def first_trials(comparison: ComparisonSettings, batch: int) -> list[TrialSettings]:
    """The settings that all entrants try: a grid of learning rates, or random draws over several settings."""
    count = comparison.tune
    if comparison.tune_over == ("lr",):
        return [{"train.lr": _rounded(MIDDLE * APART ** (index - (count - 1) / 2))} for index in range(count)]
    draw = np.random.default_rng(DRAWN_SEED)
    spread = APART**2
    drawn = {
        "lr": lambda: ("train.lr", _rounded(MIDDLE * spread ** draw.uniform(-1, 1))),
        "batch_size": lambda: ("task.batch_size", max(1, round(batch * draw.choice(BATCH_FACTORS)))),
        "layers": lambda: ("backbone.layers", int(draw.choice(LAYERS))),
    }
    return [dict(drawn[name]() for name in comparison.tune_over) for _ in range(count)]


def _rounded(rate: float) -> float:
    return float(f"{rate:.2g}")


def horizon(steps: Iterable[int]) -> float:
    """The length of a trial as a share of a run, the same for all."""
    return max(HORIZON, min(1.0, FEWEST / max(1, min(steps))))


def grown(trials: Sequence[TrialSettings], best: Mapping[str, TrialSettings]) -> list[TrialSettings]:
    """One more rate at each end of the grid where an entrant has its best; none if all bests lie inside."""
    rates = sorted(one["train.lr"] for one in trials)
    chosen = {one["train.lr"] for one in best.values()}
    more = [rates[0] / APART] if rates[0] in chosen else []
    more += [rates[-1] * APART] if rates[-1] in chosen else []
    return [{"train.lr": _rounded(rate)} for rate in more]


def grows(comparison: ComparisonSettings) -> bool:
    return comparison.tune_over == ("lr",) and comparison.tune > 1


def changed(model: PlannedModel, size: Amount | None, tried: TrialSettings) -> RunSettings:
    """An entrant with the settings of a trial: its size matched again, and as many tokens at any batch size."""
    before = model.run_settings
    settings = before.with_values(**tried)
    if size is not None and "backbone.layers" in tried:
        settings = match_size(settings, size).settings
    batch_size = before.task.settings.batch_size
    steps = max(1, round(model.steps * batch_size / tried.get("task.batch_size", batch_size)))
    return settings.with_values(**{"train.steps": steps})


def short(settings: RunSettings, share: float) -> RunSettings:
    """The same training in a small share of its steps, with the schedule scaled to them."""
    whole = settings.train.steps or 1
    steps = max(1, round(share * whole))
    return settings.with_values(
        **{
            "train.steps": steps,
            "train.warmup": round(settings.train.warmup * steps / whole),
            "train.evaluate_every": steps,
            "train.sample_tokens": 0,
            "train.seed": SEED,
        }
    )


def best_of(trials: Sequence[TrialSettings], losses: Mapping[str, Sequence[float | None]]) -> dict[str, TrialSettings]:
    """The trial with the lowest loss of each entrant; a failed trial has none."""
    return {name: trials[_lowest(found)] for name, found in losses.items()}


def trial_results(trials: Sequence[TrialSettings], losses: Mapping[str, Sequence[float | None]]) -> list[Trial]:
    return [
        Trial(name, dict(tried), loss, index == _lowest(found))
        for name, found in losses.items()
        for index, (tried, loss) in enumerate(zip(trials, found, strict=True))
    ]


def _lowest(losses: Sequence[float | None]) -> int:
    return min(range(len(losses)), key=lambda index: math.inf if losses[index] is None else losses[index] or 0.0)
