"""Runs the trials, and puts the winning settings into the plan."""

from dataclasses import replace
from pathlib import Path

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.plan.plan import TUNING, Plan, PlannedModel
from seqlab.comparison.plan.request import ComparisonSettings
from seqlab.comparison.plan.trials import (
    MOST_GROWTHS,
    TrialSettings,
    best_of,
    changed,
    grown,
    grows,
    short,
    trial_results,
)
from seqlab.config import RunSettings
from seqlab.errors import TrainingFailed
from seqlab.runs.directory import RunDirectory
from seqlab.runs.results import read_results


def tune(
    plan: Plan, comparison: ComparisonSettings, directory: Path, pool: Pool
) -> tuple[Plan, dict[str, RunSettings]]:
    """The plan with its trial results, and the winning settings of every entrant."""
    trials = list(plan.trials)
    notes = list(plan.notes)
    growths = 0
    while True:
        losses = _carry_out(plan, trials, directory, pool)
        best = best_of(trials, losses)
        more = grown(trials, best) if grows(comparison) else []
        if not more or growths == MOST_GROWTHS:
            break
        trials += more
        growths += 1
    if more:
        notes.append(f"After {growths} extensions of the grid, a best learning rate still lies at its edge.")
    winners = {model.name: changed(model, plan.size, best[model.name]) for model in plan.models}
    return replace(plan, trials=trials, trial_results=trial_results(trials, losses), notes=notes), winners


def _carry_out(plan: Plan, trials: list[TrialSettings], directory: Path, pool: Pool) -> dict[str, list[float | None]]:
    """The validation loss of every trial, by entrant; finished trials are not repeated."""
    jobs = {
        model.name: [_job(plan, model, tried, index) for index, tried in enumerate(trials)] for model in plan.models
    }
    pool.run([job for listed in jobs.values() for job in listed], "tuning")
    losses = {name: [_loss(job, directory) for job in listed] for name, listed in jobs.items()}
    for name, reached in losses.items():
        if all(loss is None for loss in reached):
            reason = jobs[name][0].failure(directory)
            raise TrainingFailed(f"all {len(reached)} trials of {name} failed. The first: {reason}")
    return losses


def _job(plan: Plan, model: PlannedModel, tried: TrialSettings, index: int) -> Job:
    settings = short(changed(model, plan.size, tried), plan.horizon)
    seconds = (settings.train.steps or 0) * model.step_seconds + model.trial_seconds
    return Job(f"{TUNING}/{model.name}-{index}", settings.resolved(), None, seconds)


def _loss(job: Job, directory: Path) -> float | None:
    if job.failure(directory) is not None:
        return None
    results = read_results(RunDirectory(job.path(directory)))
    assert results is not None, "the pool has carried out every trial"
    return results.criterion
