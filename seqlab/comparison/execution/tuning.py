"""Runs the tuning trials, and finds the winning settings of every entrant."""

from dataclasses import replace
from pathlib import Path

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.plan.request import ComparisonSettings
from seqlab.comparison.plan.trials import (
    MOST_EXTENSIONS,
    TrialSettings,
    extension,
    is_extensible,
    shortened,
    trial_results,
    with_trial,
)
from seqlab.config import RunSettings
from seqlab.errors import TrainingFailed
from seqlab.runs.directory import TUNING, RunDirectory
from seqlab.runs.results import read_results


def tune(
    plan: Plan, comparison: ComparisonSettings, directory: Path, pool: Pool
) -> tuple[Plan, dict[str, RunSettings]]:
    """The plan with its trial results, and the winning settings of every entrant."""
    trials, notes, extensions = list(plan.trials), list(plan.notes), 0
    while True:
        results = trial_results(trials, _run_trials(plan, trials, directory, pool))
        best = {trial.name: trial.tried for trial in results if trial.chosen}
        more = extension(trials, best) if is_extensible(comparison) else []
        if not more or extensions == MOST_EXTENSIONS:
            break
        trials += more
        extensions += 1
    if more:
        notes.append(edge_note(trials, best, extensions))
    winners = {model.name: with_trial(model, plan.size, best[model.name], plan.vocab_sizes) for model in plan.models}
    return replace(plan, trials=trials, trial_results=results, notes=notes), winners


def edge_note(trials: list[TrialSettings], best: dict[str, TrialSettings], extensions: int) -> str:
    """Names the entrants whose best learning rate is the lowest or the highest that was tried."""
    rates = sorted(trial["train.lr"] for trial in trials)
    at_edge = [
        f"{name} ({best[name]['train.lr']:g})" for name in best if best[name]["train.lr"] in (rates[0], rates[-1])
    ]
    return (
        f"After {extensions} extensions of the grid of learning rates, the best one of {' and of '.join(at_edge)} is "
        f"still at its edge: a better one may lie beyond."
    )


def _run_trials(plan: Plan, trials: list[TrialSettings], directory: Path, pool: Pool) -> dict[str, list[float | None]]:
    """The validation loss of every trial, by entrant; finished trials are not repeated."""
    jobs = {
        model.name: [_job(plan, model, trial, index) for index, trial in enumerate(trials)] for model in plan.models
    }
    pool.run([job for model_jobs in jobs.values() for job in model_jobs], "tuning")
    losses = {name: [_loss(job, directory) for job in model_jobs] for name, model_jobs in jobs.items()}
    for name, model_losses in losses.items():
        if all(loss is None for loss in model_losses):
            reason = jobs[name][0].failure(directory)
            raise TrainingFailed(f"all {len(model_losses)} trials of {name} failed. The first: {reason}")
    return losses


def _job(plan: Plan, model: PlannedModel, trial: TrialSettings, index: int) -> Job:
    settings = shortened(with_trial(model, plan.size, trial, plan.vocab_sizes), plan.horizon)
    seconds = (settings.train.steps or 0) * model.step_seconds + model.trial_seconds
    return Job(f"{TUNING}/{model.name}-{index}", settings.resolved(), None, seconds)


def _loss(job: Job, directory: Path) -> float | None:
    if job.failure(directory) is not None:
        return None
    results = read_results(RunDirectory(job.path(directory)))
    assert results is not None, "the pool has finished every trial"
    return results.criterion
