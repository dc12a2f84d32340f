"""Carries out the trials, and puts what won into the plan."""

from dataclasses import replace
from pathlib import Path

from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.pool import Pool
from seqlab.comparison.plan.plan import TUNING, Plan, PlannedModel
from seqlab.comparison.plan.request import ComparisonSettings
from seqlab.comparison.plan.trials import MOST_GROWTHS, Tried, best_of, changed, grown, grows, short, told
from seqlab.config import RunSettings
from seqlab.errors import TrainingFailed
from seqlab.runs.directory import RunDirectory
from seqlab.runs.results import read_results


def tune(
    plan: Plan, comparison: ComparisonSettings, directory: Path, pool: Pool
) -> tuple[Plan, dict[str, RunSettings]]:
    """The plan with its trials told, and every entrant's settings with what won."""
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
        notes.append(f"after {growths} extensions of the grid somebody's best learning rate still lies at its edge")
    winners = {model.name: changed(model, plan.size, best[model.name]) for model in plan.models}
    return replace(plan, trials=trials, tried=told(trials, losses), notes=notes), winners


def _carry_out(plan: Plan, trials: list[Tried], directory: Path, pool: Pool) -> dict[str, list[float | None]]:
    """The validation loss of every trial, by entrant; trials that were made before are not made again."""
    jobs = {
        model.name: [_job(plan, model, tried, index) for index, tried in enumerate(trials)] for model in plan.models
    }
    pool.run([job for own in jobs.values() for job in own], "tuning")
    losses = {name: [_loss(job, directory) for job in own] for name, own in jobs.items()}
    for name, found in losses.items():
        if all(loss is None for loss in found):
            why = jobs[name][0].failure(directory)
            raise TrainingFailed(f"none of the {len(found)} trials of {name} could be trained. The first: {why}")
    return losses


def _job(plan: Plan, model: PlannedModel, tried: Tried, index: int) -> Job:
    settings = short(changed(model, plan.size, tried), plan.horizon)
    seconds = (settings.train.steps or 0) * model.step_seconds + model.trial_seconds
    return Job(f"{TUNING}/{model.name}-{index}", settings.resolved(), None, seconds)


def _loss(job: Job, directory: Path) -> float | None:
    if job.failure(directory) is not None:
        return None
    results = read_results(RunDirectory(job.path(directory)))
    assert results is not None, "the pool has carried out every trial"
    return results.criterion
