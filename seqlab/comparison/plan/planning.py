"""From a request to a plan: sizes, step times, steps, trials, and an estimate of the total time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from seqlab.comparison.plan.data import ComparisonData, with_models
from seqlab.comparison.plan.matching import CLOSE, SIZE_OF, MatchedModel, core_parameters, match_size
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.plan.request import Amount, ComparisonRequest
from seqlab.comparison.plan.timing import ModelTiming, time_all
from seqlab.comparison.plan.trials import first_trials, grows, horizon
from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.threads import default_threads
from seqlab.training.budget import MAX_EPOCHS
from seqlab.training.progress import Reporter

SIZES = (400_000, 200_000, 100_000, 50_000, 25_000)  # core parameters to choose from when no size is requested
TOKENS_PER_PARAMETER = 2  # of training text: a larger model would mostly memorize
FEWEST_STEPS = 500  # with fewer, a smaller model is the better use of the time
STARTUP = 6.0  # seconds that a worker takes before and after its runs
SLOWDOWN = 1.25  # of runs that share the machine
ON_VALIDATION = "There is no test split: verdicts are on the validation split, which also chose the checkpoints."
PLANNED_SHARE = 0.92  # of the requested minutes


@dataclass(frozen=True)
class SizedModels:
    """Models of equal size, with the time of their steps."""

    size: Amount | None
    data: ComparisonData
    timed: dict[str, ModelTiming]
    notes: list[str]


def make_plan(request: ComparisonRequest, data: ComparisonData, reporter: Reporter) -> Plan:
    jobs = jobs_of(request)
    threads = next(iter(request.models.values())).train.threads or max(1, default_threads() // jobs)
    budget = request.comparison.length
    sized = steps = None
    sizes = _sizes(request, data)
    for size in sizes:
        sized = _sized(data, size, threads, reporter)
        steps = _steps(request, budget, sized, jobs)
        if len(sizes) == 1 or min(steps.values()) >= FEWEST_STEPS:
            break
    assert sized is not None and steps is not None
    models = [_planned(name, sized, steps[name], threads, _own_budget(budget, data)) for name in request.models]
    task = next(iter(sized.data.models.values())).task.settings
    return Plan(
        request=request.as_dict(),
        models=models,
        size=sized.size,
        seeds=list(range(request.comparison.seeds)),
        threads=threads,
        horizon=horizon(steps.values()),
        trials=first_trials(request.comparison, task.batch_size),
        trial_results=[],
        fingerprints={
            "corpus": data.dataset.fingerprint,
            "tokenizer": data.dataset.vocabulary.fingerprint,
        },
        notes=sized.notes + ([] if data.deciding_split == "test" else [ON_VALIDATION]),
        estimate=_estimate(request, sized, steps, jobs),
    )


def with_winners(
    plan: Plan, request: ComparisonRequest, data: ComparisonData, winners: dict[str, RunSettings], reporter: Reporter
) -> Plan:
    """The plan with the tuned settings. Learning rates change no cost; otherwise steps are timed and counted again."""
    if request.comparison.tune_over == ("lr",):
        models = [model.changed(**{"train.lr": winners[model.name].train.lr}) for model in plan.models]
        return replace(plan, models=models)
    sized = _sized(with_models(data, winners), None, plan.threads, reporter)
    budget = request.comparison.length
    steps = {name: settings.train.steps or 1 for name, settings in winners.items()}
    if budget is not None and budget.kind != "steps":
        steps = _steps(request, budget, sized, jobs_of(request))
    own = _own_budget(budget, data)
    return replace(plan, models=[_planned(name, sized, steps[name], plan.threads, own) for name in winners])


def jobs_of(request: ComparisonRequest) -> int:
    """Parallel runs: one per core, at most as many as there are runs."""
    return request.comparison.jobs or min(default_threads(), len(request.models) * request.comparison.seeds)


def _sizes(request: ComparisonRequest, data: ComparisonData) -> list[Amount | None]:
    """The sizes to try until one leaves enough steps; None keeps the settings."""
    match = request.comparison.match
    if match in SIZE_OF:
        return [Amount(match, SIZE_OF[match](next(iter(data.models.values()))))]
    if match is not None:
        return [request.comparison.sizes]
    most = data.tokens("train") / TOKENS_PER_PARAMETER
    fitting = [size for size in SIZES if size <= most] or [SIZES[-1]]
    return [Amount("params", size) for size in (fitting[:1] if request.comparison.budget else fitting)]


def _sized(data: ComparisonData, size: Amount | None, threads: int, reporter: Reporter) -> SizedModels:
    models, notes = dict(data.models), []
    if size is not None:
        matched = {name: match_size(settings, size) for name, settings in models.items()}
        models = {name: model.settings for name, model in matched.items()}
        notes = [_size_note(name, model, size) for name, model in matched.items() if abs(model.gap) > CLOSE]
    reporter.log(f"timing a step of {', '.join(models)} on {threads} {'thread' if threads == 1 else 'threads'}")
    sized = with_models(data, models)
    return SizedModels(size, sized, time_all(sized, threads), notes)


def _size_note(name: str, model: MatchedModel, size: Amount) -> str:
    unit = "core parameters" if size.kind == "params" else "FLOPs per token"
    return f"{name} has {model.size:,} {unit}, {model.gap:+.1%} from {size.size:,.0f}: the nearest possible size"


def _steps(request: ComparisonRequest, budget: Amount | None, sized: SizedModels, jobs: int) -> dict[str, int]:
    """The steps of each entrant."""
    models = sized.data.models
    if _own_budget(budget, sized.data):
        return {name: _own_steps(name, sized) for name in models}
    if budget is None:
        return dict.fromkeys(models, _steps_in_time(request, sized, jobs))
    per_step = {
        "steps": lambda name: 1.0,
        "tokens": lambda name: tokens_per_step(sized.data, name),
        "flops": lambda name: 3 * _flops(sized.data, name) * tokens_per_step(sized.data, name),
        "seconds": lambda name: sized.timed[name].step_seconds,
    }[budget.kind]
    return {name: max(1, round(budget.size / per_step(name))) for name in models}


def _own_budget(budget: Amount | None, data: ComparisonData) -> bool:
    """Whether every model says itself how long it trains, as in a recipe."""
    return budget is None and all(settings.train.budget for settings in data.models.values())


def _own_steps(name: str, sized: SizedModels) -> int:
    """The steps of a model that says itself how long it trains."""
    settings = sized.data.models[name]
    train = settings.train
    if train.seconds is not None:
        return max(1, round(train.seconds / sized.timed[name].step_seconds))
    epoch = sized.data.task(settings).steps_per_epoch / train.accumulate
    return train.steps or max(1, round((train.epochs or 0.0) * epoch))


def _steps_in_time(request: ComparisonRequest, sized: SizedModels, jobs: int) -> int:
    """Equal steps for all that fit the requested minutes, and a few dozen epochs at most."""
    fixed = _estimate(request, sized, dict.fromkeys(sized.timed, 0), jobs)
    each = _estimate(request, sized, dict.fromkeys(sized.timed, 1000), jobs) - fixed
    possible = int(1000 * (PLANNED_SHARE * 60 * request.comparison.minutes - fixed) / each)
    one = next(iter(sized.data.models.values()))
    passes = MAX_EPOCHS * sized.data.task(one).steps_per_epoch / one.train.accumulate
    return max(20, min(possible, round(passes)))


def _estimate(request: ComparisonRequest, sized: SizedModels, steps: Mapping[str, int], jobs: int) -> float:
    """Seconds for all trials and runs."""
    seeds, tune = request.comparison.seeds, request.comparison.tune
    tune += grows(request.comparison)  # a best rate often lies at the edge of the grid
    work, share = 0.0, horizon(steps.values())
    for name, timed in sized.timed.items():
        evaluations = timed.evaluation_seconds(sized.data.models[name].train, steps[name])
        runs = seeds * (steps[name] * timed.step_seconds + evaluations)
        trials = tune * (share * steps[name] * timed.step_seconds + timed.trial_seconds)
        work += runs + trials
    counting = 4e-6 * sized.data.tokens("train")  # seconds for the baselines
    return work * (SLOWDOWN if jobs > 1 else 1.0) / jobs + 2 * STARTUP + counting


def _planned(name: str, sized: SizedModels, steps: int, threads: int, own_budget: bool) -> PlannedModel:
    data = sized.data
    settings = data.models[name]
    changes = {
        "train.steps": steps,
        "train.epochs": None,
        "train.seconds": None,
        "train.threads": threads,
        "train.warmup": settings.train.warmup if own_budget else min(settings.train.warmup, steps // 10),
    }
    fixed = settings.with_values(**changes)
    return PlannedModel(
        name=name,
        settings=fixed.resolved(),
        core=core_parameters(fixed),
        step_seconds=sized.timed[name].step_seconds,
        evaluation_seconds=sized.timed[name].evaluation_seconds(settings.train, steps),
        trial_seconds=sized.timed[name].trial_seconds,
        tokens_per_step=round(tokens_per_step(data, name)),
        flops_per_token=_flops(data, name),
        implementation=data.model(settings).backbone.implementation,
    )


def tokens_per_step(data: ComparisonData, name: str) -> float:
    """Tokens read per step; an average where sequences have unequal lengths."""
    settings = data.models[name]
    train, epoch = data.dataset.splits["train"], data.task(settings).steps_per_epoch
    if isinstance(train, ExampleSplit):
        return settings.train.accumulate * train.tokens / epoch
    if train.stats.documents > 1:
        return settings.train.accumulate * (train.stats.tokens - train.stats.documents) / epoch
    batch: Any = data.task(settings).batch("train", 0, 0)
    return settings.train.accumulate * batch.targets_BT.numel()


def _flops(data: ComparisonData, name: str) -> int:
    settings = data.models[name]
    return data.model(settings).flops_per_token(data.length(settings))
