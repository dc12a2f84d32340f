"""Equal tuning: all entrants try the same settings in short trials; each is then trained with its best ones."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqlab.comparison.plan.matching import match_size
from seqlab.comparison.plan.request import Amount, ComparisonSettings
from seqlab.comparison.results import Trial
from seqlab.config import RunSettings, VocabSizes

TRIAL_SHARE = 0.2  # of a run's steps
FEWEST_STEPS = 100  # of a trial, unless the run is shorter: shorter trials favor learning rates that are too high
SEED = 2**31  # of every trial, and of no run
MIDDLE = 10**-2.5  # of the grid of learning rates
RATIO = 10**0.5  # between neighboring learning rates
LENGTH_EXPONENT = 1 / 3  # the best rate falls with this power of the length of training (benchmarks.tuning)
MOST_EXTENSIONS = 3
LAYERS = (1, 2, 3, 4)
BATCH_FACTORS = (0.5, 1, 2)

TrialSettings = dict[str, Any]
EntrantTrials = dict[str, list[TrialSettings]]
TrialLosses = dict[str, list[float | None]]  # None for a trial that failed


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


def trial_count(comparison: ComparisonSettings) -> int:
    """How many trials an entrant usually gets: the best rate often lies at the edge of the grid, which adds one."""
    return comparison.tune + (1 + len(refinement({"train.lr": MIDDLE})) if is_extensible(comparison) else 0)


def is_extensible(comparison: ComparisonSettings) -> bool:
    """Whether the trials are a grid of learning rates, which can be extended at its ends."""
    return comparison.tune_over == ("lr",) and comparison.tune > 1


def search(
    first: Sequence[TrialSettings], names: Sequence[str], grows: bool, losses_of: Callable[[EntrantTrials], TrialLosses]
) -> tuple[list[Trial], list[str]]:
    """All trials with their losses, and the entrants whose best learning rate is still at the edge of the grid.

    A grid of learning rates grows where somebody's best rate is at its edge, for all entrants; at last each tries two
    more rates beside its own best. `losses_of` runs what is not yet known."""
    trials: EntrantTrials = {name: list(first) for name in names}
    results = trial_results(trials, losses_of(trials))
    if not grows:
        return results, []
    for _ in range(MOST_EXTENSIONS):
        more = extension(trials[names[0]], best_trials(results))
        if not more:
            break
        trials = {name: tried + more for name, tried in trials.items()}
        results = trial_results(trials, losses_of(trials))
    best = best_trials(results)
    rates = [trial["train.lr"] for trial in trials[names[0]]]
    at_edge = [name for name in names if best[name]["train.lr"] in (min(rates), max(rates))]
    trials = {name: tried + refinement(best[name]) for name, tried in trials.items()}
    return trial_results(trials, losses_of(trials)), at_edge


def extension(trials: Sequence[TrialSettings], best: Mapping[str, TrialSettings]) -> list[TrialSettings]:
    """One more rate at each end of the grid that is some entrant's best; none if all best rates lie inside."""
    rates = sorted(trial["train.lr"] for trial in trials)
    best_rates = {trial["train.lr"] for trial in best.values()}
    more = [neighbor(rates[0], -2)] if rates[0] in best_rates else []
    more += [neighbor(rates[-1], 2)] if rates[-1] in best_rates else []
    return [{"train.lr": rate} for rate in more]


def refinement(best: TrialSettings) -> list[TrialSettings]:
    """Two more rates, half way to the neighbors of an entrant's best."""
    return [{"train.lr": neighbor(best["train.lr"], halves)} for halves in (-1, 1)]


def neighbor(rate: float, halves: int) -> float:
    """The learning rate so many half steps of the grid away."""
    place = round(2 * math.log(rate / MIDDLE) / math.log(RATIO))  # rates are rounded, the grid is not
    return _rounded(MIDDLE * RATIO ** ((place + halves) / 2))


def run_rate(trials: Sequence[Trial], share: float) -> float:
    """The learning rate of a whole run, from the trials of one entrant that had a share of its steps.

    Short trials favor high rates: the lowest point of their losses is scaled down to the length of a run."""
    best = next(trial.tried["train.lr"] for trial in trials if trial.chosen)
    if share >= 1:
        return best
    valley = lowest_point(trials)
    return _rounded((valley[0] if valley else best) * share**LENGTH_EXPONENT)


def lowest_point(trials: Sequence[Trial]) -> tuple[float, float] | None:
    """The rate at the lowest point of a parabola through the chosen trial and its neighbors, and how far it is below.

    None if a neighbor is missing: the best rate may then lie far away."""
    points = sorted((trial.tried["train.lr"], trial.loss, trial.chosen) for trial in trials if trial.loss is not None)
    place = next((index for index, (*_, chosen) in enumerate(points) if chosen), 0)
    if not 0 < place < len(points) - 1:
        return None
    (low, above, _), (rate, loss, _), (high, beyond, _) = points[place - 1 : place + 2]
    logs = np.log([low / rate, 1.0, high / rate])
    curvature, slope, _ = np.polyfit(logs, [above - loss, 0.0, beyond - loss], 2)
    if curvature <= 0:
        return rate, 0.0
    return rate * math.exp(-slope / (2 * curvature)), float(slope**2 / (4 * curvature))


def best_trials(results: Sequence[Trial]) -> dict[str, TrialSettings]:
    return {trial.name: trial.tried for trial in results if trial.chosen}


def with_trial(settings: RunSettings, size: Amount | None, trial: TrialSettings, sizes: VocabSizes) -> RunSettings:
    """The settings with those of a trial, matched in size again."""
    changed = settings.with_values(**trial)
    if size is not None and "backbone.layers" in trial:
        changed = match_size(changed, size, sizes).settings
    return changed


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


def trial_results(trials: EntrantTrials, losses: TrialLosses) -> list[Trial]:
    """All trials of all entrants; each entrant's lowest loss is chosen, and a failed trial has no loss."""
    results = []
    for name, model_losses in losses.items():
        lowest = int(np.argmin([math.inf if loss is None else loss for loss in model_losses]))
        for index, (trial, loss) in enumerate(zip(trials[name], model_losses, strict=True)):
            results.append(Trial(name, dict(trial), loss, chosen=index == lowest))
    return results
