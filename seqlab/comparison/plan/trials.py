"""Equal tuning: all entrants try the same settings in short trials; each is then trained with its best ones."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqlab.comparison.plan.matching import match_size
from seqlab.comparison.plan.plan import PlannedModel
from seqlab.comparison.plan.request import Amount, ComparisonSettings
from seqlab.comparison.results import Trial
from seqlab.config import RunSettings, VocabSizes

TRIAL_SHARE = 0.2  # of a run's steps
FEWEST_STEPS = 100  # of a trial, unless the run is shorter: shorter trials favor learning rates that are too high
SEED = 2**31  # of every trial, and of no run
MIDDLE = 10**-2.5  # of the grid of learning rates
RATIO = 10**0.5  # between neighboring learning rates
MOST_EXTENSIONS = 3
LAYERS = (1, 2, 3, 4)
BATCH_FACTORS = (0.5, 1, 2)

TrialSettings = dict[str, Any]


def first_trials(comparison: ComparisonSettings, batch_size: int) -> list[TrialSettings]:
    """The settings that all entrants try: a grid of learning rates, or random draws of several settings."""
    count = comparison.tune
    if comparison.tune_over == ("lr",):
        return [{"train.lr": _rounded(MIDDLE * RATIO ** (index - (count - 1) / 2))} for index in range(count)]
    random = np.random.default_rng(0)
    draw = {
        "lr": lambda: ("train.lr", _rounded(MIDDLE * RATIO ** (2 * random.uniform(-1, 1)))),
        "batch_size": lambda: ("task.batch_size", max(1, round(batch_size * random.choice(BATCH_FACTORS)))),
        "layers": lambda: ("backbone.layers", int(random.choice(LAYERS))),
    }
    return [dict(draw[name]() for name in comparison.tune_over) for _ in range(count)]


def _rounded(rate: float) -> float:
    return float(f"{rate:.2g}")


def trial_share(steps: Iterable[int]) -> float:
    """The length of a trial as a share of a run, the same for all entrants."""
    return max(TRIAL_SHARE, min(1.0, FEWEST_STEPS / max(1, min(steps))))


def is_extensible(comparison: ComparisonSettings) -> bool:
    """Whether the trials are a grid of learning rates, which can be extended at its ends."""
    return comparison.tune_over == ("lr",) and comparison.tune > 1


def extension(trials: Sequence[TrialSettings], best: Mapping[str, TrialSettings]) -> list[TrialSettings]:
    """One more rate at each end of the grid that is some entrant's best; none if all best rates lie inside."""
    rates = sorted(trial["train.lr"] for trial in trials)
    best_rates = {trial["train.lr"] for trial in best.values()}
    more = [rates[0] / RATIO] if rates[0] in best_rates else []
    more += [rates[-1] * RATIO] if rates[-1] in best_rates else []
    return [{"train.lr": _rounded(rate)} for rate in more]


def with_trial(model: PlannedModel, size: Amount | None, trial: TrialSettings, sizes: VocabSizes) -> RunSettings:
    """An entrant with the settings of a trial, matched in size again, on the same number of tokens."""
    before = model.run_settings
    settings = before.with_values(**trial)
    if size is not None and "backbone.layers" in trial:
        settings = match_size(settings, size, sizes).settings
    batch_size = before.task.settings.batch_size
    steps = max(1, round(model.steps * batch_size / trial.get("task.batch_size", batch_size)))
    return settings.with_values(**{"train.steps": steps})


def shortened(settings: RunSettings, share: float) -> RunSettings:
    """The same training in a share of its steps, with the schedule scaled to them."""
    all_steps = settings.train.steps or 1
    steps = max(1, round(share * all_steps))
    return settings.with_values(
        **{
            "train.steps": steps,
            "train.warmup": round(settings.train.warmup * steps / all_steps),
            "train.evaluate_every": steps,
            "train.sample_tokens": 0,
            "train.seed": SEED,
        }
    )


def trial_results(trials: Sequence[TrialSettings], losses: Mapping[str, Sequence[float | None]]) -> list[Trial]:
    """All trials of all entrants; each entrant's lowest loss is chosen, and a failed trial has no loss."""
    results = []
    for name, model_losses in losses.items():
        lowest = int(np.argmin([math.inf if loss is None else loss for loss in model_losses]))
        for index, (trial, loss) in enumerate(zip(trials, model_losses, strict=True)):
            results.append(Trial(name, dict(trial), loss, chosen=index == lowest))
    return results
