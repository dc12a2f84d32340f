"""From what was asked to a plan: sizes, step times, steps, trials, and an estimate of how long it all takes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from seqlab.comparison.plan.matching import CLOSE, SIZE_OF, Matched, core_parameters, matched
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.plan.prepared import Prepared, with_models
from seqlab.comparison.plan.request import Amount, ComparisonRequest
from seqlab.comparison.plan.timing import ModelTiming, time_all
from seqlab.comparison.plan.trials import first_trials, grows, horizon
from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.threads import default_threads
from seqlab.training.budget import MAX_EPOCHS
from seqlab.training.progress import Reporter

SIZES = (400_000, 200_000, 100_000, 50_000, 25_000)  # core parameters, when no size is asked for
TOKENS_PER_PARAMETER = 2  # of training text: a larger model would mostly remember
FEWEST_STEPS = 500  # below this a smaller model is the better use of the time
STARTED = 6.0  # seconds that a process takes before and after its runs
SHARED = 1.25  # runs beside each other slow each other down
ON_VALIDATION = "there is no test part: verdicts are on the validation part, on which checkpoints were chosen too"
SPARE = 0.92  # of the minutes that are planned for


@dataclass(frozen=True)
class Sized:
    """Models of a size, timed."""

    size: Amount | None
    prepared: Prepared
    timed: dict[str, ModelTiming]
    notes: list[str]


def make_plan(asked: ComparisonRequest, prepared: Prepared, reporter: Reporter) -> Plan:
    jobs = jobs_of(asked)
    threads = next(iter(asked.models.values())).train.threads or max(1, default_threads() // jobs)
    budget = asked.comparison.length
    sized = steps = None
    sizes = _sizes(asked, prepared)
    for size in sizes:
        sized = _sized(prepared, size, threads, reporter)
        steps = _steps(asked, budget, sized, jobs)
        if len(sizes) == 1 or min(steps.values()) >= FEWEST_STEPS:
            break
    assert sized is not None and steps is not None
    models = [_planned(name, sized, steps[name], threads) for name in asked.models]
    task = next(iter(sized.prepared.models.values())).task.settings
    return Plan(
        asked=asked.as_dict(),
        models=models,
        size=sized.size,
        seeds=list(range(asked.comparison.seeds)),
        threads=threads,
        horizon=horizon(steps.values()),
        trials=first_trials(asked.comparison, task.batch_size),
        tried=[],
        fingerprints={
            "corpus": prepared.dataset.fingerprint,
            "tokenizer": prepared.dataset.vocabulary.fingerprint,
        },
        notes=sized.notes + ([] if prepared.decides == "test" else [ON_VALIDATION]),
        estimate=_estimate(asked, sized, steps, jobs),
    )


def with_winners(
    plan: Plan, asked: ComparisonRequest, prepared: Prepared, winners: dict[str, RunSettings], reporter: Reporter
) -> Plan:
    """The plan with what tuning found. Rates change no cost; where more was tuned, steps are timed and counted anew."""
    if asked.comparison.tune_over == ("lr",):
        models = [model.changed(**{"train.lr": winners[model.name].train.lr}) for model in plan.models]
        return replace(plan, models=models)
    sized = _sized(with_models(prepared, winners), None, plan.threads, reporter)
    budget = asked.comparison.length
    steps = {name: settings.train.steps or 1 for name, settings in winners.items()}
    if budget is not None and budget.kind != "steps":
        steps = _steps(asked, budget, sized, jobs_of(asked))
    return replace(plan, models=[_planned(name, sized, steps[name], plan.threads) for name in winners])


def jobs_of(asked: ComparisonRequest) -> int:
    """Runs at a time: one a core, but no more than there are."""
    return asked.comparison.jobs or min(default_threads(), len(asked.models) * asked.comparison.seeds)


def _sizes(asked: ComparisonRequest, prepared: Prepared) -> list[Amount | None]:
    """The sizes to try in turn, until one leaves enough steps; None is as set."""
    match = asked.comparison.match
    if match in SIZE_OF:
        return [Amount(match, SIZE_OF[match](next(iter(prepared.models.values()))))]
    if match is not None:
        return [asked.comparison.sizes]
    most = prepared.tokens("train") / TOKENS_PER_PARAMETER
    fitting = [size for size in SIZES if size <= most] or [SIZES[-1]]
    return [Amount("params", size) for size in (fitting[:1] if asked.comparison.budget else fitting)]


def _sized(prepared: Prepared, size: Amount | None, threads: int, reporter: Reporter) -> Sized:
    models, notes = dict(prepared.models), []
    if size is not None:
        found = {name: matched(settings, size) for name, settings in models.items()}
        models = {name: one.settings for name, one in found.items()}
        notes = [_off(name, one, size) for name, one in found.items() if abs(one.gap) > CLOSE]
    reporter.log(f"timing a step of {', '.join(models)} on {threads} {'thread' if threads == 1 else 'threads'}")
    sized = with_models(prepared, models)
    return Sized(size, sized, time_all(sized, threads), notes)


def _off(name: str, found: Matched, size: Amount) -> str:
    what = "core parameters" if size.kind == "params" else "FLOPs per token"
    return f"{name} has {found.size:,} {what}, {found.gap:+.1%} from {size.size:,.0f}: the nearest there is"


def _steps(asked: ComparisonRequest, budget: Amount | None, sized: Sized, jobs: int) -> dict[str, int]:
    """Of each entrant."""
    models = sized.prepared.models
    if budget is None and all(one.train.budget for one in models.values()):
        return {name: _own_steps(name, sized) for name in models}
    if budget is None:
        return dict.fromkeys(models, _steps_in_time(asked, sized, jobs))
    per_step = {
        "steps": lambda name: 1.0,
        "tokens": lambda name: tokens_per_step(sized.prepared, name),
        "flops": lambda name: 3 * _flops(sized.prepared, name) * tokens_per_step(sized.prepared, name),
        "seconds": lambda name: sized.timed[name].step_seconds,
    }[budget.kind]
    return {name: max(1, round(budget.size / per_step(name))) for name in models}


def _own_steps(name: str, sized: Sized) -> int:
    """Of a model whose recipe says how long it is trained."""
    settings = sized.prepared.models[name]
    train = settings.train
    if train.seconds is not None:
        return max(1, round(train.seconds / sized.timed[name].step_seconds))
    epoch = sized.prepared.task(settings).steps_per_epoch / train.accumulate
    return train.steps or max(1, round((train.epochs or 0.0) * epoch))


def _steps_in_time(asked: ComparisonRequest, sized: Sized, jobs: int) -> int:
    """The same for all, so that everything ends in time; of a small text no more than some tens of passes."""
    fixed = _estimate(asked, sized, dict.fromkeys(sized.timed, 0), jobs)
    each = _estimate(asked, sized, dict.fromkeys(sized.timed, 1000), jobs) - fixed
    possible = int(1000 * (SPARE * 60 * asked.comparison.minutes - fixed) / each)
    one = next(iter(sized.prepared.models.values()))
    passes = MAX_EPOCHS * sized.prepared.task(one).steps_per_epoch / one.train.accumulate
    return max(20, min(possible, round(passes)))


def _estimate(asked: ComparisonRequest, sized: Sized, steps: Mapping[str, int], jobs: int) -> float:
    """Seconds until everything is done."""
    seeds, tune = asked.comparison.seeds, asked.comparison.tune
    tune += grows(asked.comparison)  # somebody's best often lies at the edge
    work, share = 0.0, horizon(steps.values())
    for name, timed in sized.timed.items():
        evaluations = timed.evaluation_seconds(sized.prepared.models[name].train, steps[name])
        runs = seeds * (steps[name] * timed.step_seconds + evaluations)
        trials = tune * (share * steps[name] * timed.step_seconds + timed.trial_seconds)
        work += runs + trials
    counting = 4e-6 * sized.prepared.tokens("train")  # seconds that the floors take
    return work * (SHARED if jobs > 1 else 1.0) / jobs + 2 * STARTED + counting


def _planned(name: str, sized: Sized, steps: int, threads: int) -> PlannedModel:
    prepared = sized.prepared
    settings = prepared.models[name]
    own = {
        "train.steps": steps,
        "train.epochs": None,
        "train.seconds": None,
        "train.threads": threads,
        "train.warmup": min(settings.train.warmup, steps // 10),
    }
    fixed = settings.with_values(**own)
    return PlannedModel(
        name=name,
        settings=fixed.resolved(),
        core=core_parameters(fixed),
        step_seconds=sized.timed[name].step_seconds,
        evaluation_seconds=sized.timed[name].evaluation_seconds(settings.train, steps),
        trial_seconds=sized.timed[name].trial_seconds,
        tokens_per_step=round(tokens_per_step(prepared, name)),
        flops_per_token=_flops(prepared, name),
        implementation=prepared.model(settings).backbone.implementation,
    )


def tokens_per_step(prepared: Prepared, name: str) -> float:
    """Tokens that are read; of sequences of unequal length, on average."""
    settings = prepared.models[name]
    train, epoch = prepared.dataset.splits["train"], prepared.task(settings).steps_per_epoch
    if isinstance(train, ExampleSplit):
        return settings.train.accumulate * train.tokens / epoch
    if train.stats.documents > 1:
        return settings.train.accumulate * (train.stats.tokens - train.stats.documents) / epoch
    batch: Any = prepared.task(settings).batch("train", 0, 0)
    return settings.train.accumulate * batch.targets_BT.numel()


def _flops(prepared: Prepared, name: str) -> int:
    settings = prepared.models[name]
    return prepared.model(settings).flops_per_token(prepared.length(settings))
