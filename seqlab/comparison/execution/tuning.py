"""Runs the tuning trials, and finds the winning settings of every entrant."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.launcher import Launcher
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.plan.request import ComparisonSettings
from seqlab.comparison.plan.trials import (
    EntrantTrials,
    TrialLosses,
    TrialSettings,
    is_extensible,
    run_rate,
    search,
    shortened,
    with_trial,
)
from seqlab.comparison.results import Trial
from seqlab.config import RunSettings
from seqlab.errors import TrainingFailed
from seqlab.runs.directory import TUNING, RunDirectory
from seqlab.runs.results import read_results


def tune(
    plan: Plan, comparison: ComparisonSettings, directory: Path, launcher: Launcher
) -> tuple[Plan, dict[str, RunSettings]]:
    """The plan with its trial results, and the winning settings of every entrant."""
    names = [model.name for model in plan.models]
    results, at_edge = search(
        plan.trials, names, is_extensible(comparison), lambda trials: _run_trials(plan, trials, directory, launcher)
    )
    notes = [*plan.notes, edge_note(results, at_edge)] if at_edge else plan.notes
    winners = {}
    for model in plan.models:
        own = [trial for trial in results if trial.name == model.name]
        index = next(index for index, trial in enumerate(own) if trial.chosen)
        winner = _trial_settings(plan, model, own[index].tried, index)
        if is_extensible(comparison):
            winner = winner.with_values(**{"train.lr": run_rate(own, plan.horizon)})
        winners[model.name] = winner
    return replace(plan, trial_results=results, notes=notes), winners


def edge_note(results: Sequence[Trial], at_edge: Sequence[str]) -> str:
    """Names the entrants whose best learning rate was the lowest or the highest of the grid, with the rate chosen."""
    rates = {trial.name: trial.tried["train.lr"] for trial in results if trial.chosen}
    listed = " and of ".join(f"{name} ({rates[name]:g})" for name in at_edge)
    return (
        f"After all extensions of the grid of learning rates, the best one of {listed} is still at its edge: a better "
        f"one may lie beyond."
    )


def _run_trials(plan: Plan, trials: EntrantTrials, directory: Path, launcher: Launcher) -> TrialLosses:
    """The validation loss of every trial, by entrant; finished trials are not repeated."""
    jobs = {
        model.name: [_job(plan, model, trial, index) for index, trial in enumerate(trials[model.name])]
        for model in plan.models
    }
    launcher.run([job for model_jobs in jobs.values() for job in model_jobs], "tuning")
    losses = {name: [_loss(job, directory) for job in model_jobs] for name, model_jobs in jobs.items()}
    for name, model_losses in losses.items():
        if all(loss is None for loss in model_losses):
            reason = jobs[name][0].failure(directory)
            raise TrainingFailed(f"all {len(model_losses)} trials of {name} failed. The first: {reason}")
    return losses


def _job(plan: Plan, model: PlannedModel, trial: TrialSettings, index: int) -> Job:
    settings = shortened(_trial_settings(plan, model, trial, index), plan.horizon)
    # as long as a share of the run: where the settings change the time of a step, the budget changes its steps
    seconds = plan.horizon * model.seconds + model.trial_seconds
    return Job(f"{TUNING}/{model.name}-{index}", settings.resolved(), None, seconds)


def _trial_settings(plan: Plan, model: PlannedModel, trial: TrialSettings, index: int) -> RunSettings:
    """A whole run of an entrant at the settings of a trial, in the same budget."""
    steps = model.trial_steps[index] if model.trial_steps else model.steps
    settings = with_trial(model.run_settings, plan.size, trial, plan.vocab_sizes)
    return settings.with_values(**{"train.steps": steps})


def _loss(job: Job, directory: Path) -> float | None:
    if job.failure(directory) is not None:
        return None
    results = read_results(RunDirectory(job.path(directory)))
    assert results is not None, "the launcher has finished every trial"
    return results.criterion
