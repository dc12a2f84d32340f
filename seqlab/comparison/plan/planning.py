"""From a request to a plan: sizes, step times, steps, trials, and an estimate of the total time."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.estimate import estimate_seconds, jobs_of, threads_of
from seqlab.comparison.plan.matching import CLOSE, SIZE_OF, UNITS, core_parameters, match_size, total_parameters
from seqlab.comparison.plan.plan import Plan, PlannedModel
from seqlab.comparison.plan.request import Amount, ComparisonRequest
from seqlab.comparison.plan.timing import ModelTiming, decide_precisions, time_all
from seqlab.comparison.plan.trials import TrialSettings, first_trials, trial_share, with_trial
from seqlab.comparison.plan.warnings import dropout_note, plan_warnings
from seqlab.config import LARGE_VOCABULARY, RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.training.budget import most_steps
from seqlab.training.dropout import with_default_dropout
from seqlab.training.progress import clock
from seqlab.training.timing import OtherPrograms, disturbance, watch_other_programs
from seqlab.wording import counted

SIZES = (400_000, 200_000, 100_000, 50_000, 25_000)  # core parameters to choose from if no size is requested
TOKENS_PER_PARAMETER = 2  # of training text: a larger model would mostly memorize
FEWEST_STEPS = 500  # with fewer, a smaller model uses the time better
ON_VALIDATION = "There is no test split: verdicts are on the validation split, which also chose the checkpoints."
LEAST_STEPS = 20  # however short the time
PLANNED_SHARE = 0.92  # of the requested minutes
Log = Callable[[str], None]


@dataclass(frozen=True)
class SizedModels:
    """Models of equal size, with the time of their steps."""

    size: Amount | None
    data: ComparisonData
    timed: dict[str, ModelTiming]
    notes: list[str]
    others: OtherPrograms


def make_plan(request: ComparisonRequest, data: ComparisonData, log: Log) -> Plan:
    threads = data.shared.train.threads or threads_of(request)
    sized = steps = None
    sizes = _sizes(request, data)
    for size in sizes:
        sized = _sized(data, size, threads, log)
        steps = _steps(request, sized)
        if len(sizes) == 1 or min(steps.values()) >= FEWEST_STEPS:
            break
    assert sized is not None and steps is not None
    trials = first_trials(request.comparison, data.shared.task.settings.batch_size)
    models = _planned_models(request, sized, steps, threads)
    estimate = estimate_seconds(request, sized.data, sized.timed, steps)
    return Plan(
        request=request.as_dict(),
        models=_with_trial_steps(request, sized, models, trials, threads),
        size=sized.size,
        seeds=list(range(request.comparison.seeds)),
        threads=threads,
        horizon=trial_share(steps.values()),
        trials=trials,
        trial_results=[],
        fingerprints={"corpus": data.dataset.fingerprint, "tokenizer": data.dataset.vocabulary.fingerprint},
        notes=_matching_note(request, sized)
        + dropout_note(request.models, models)
        + sized.notes
        + ([] if data.deciding_split == "test" else [ON_VALIDATION]),
        estimate=estimate,
        vocab_sizes=data.dataset.vocabulary.sizes,
        warnings=plan_warnings(models, data) + _time_warnings(request, sized, estimate, threads),
    )


def with_winners(
    plan: Plan, request: ComparisonRequest, data: ComparisonData, winners: dict[str, RunSettings], log: Log
) -> Plan:
    """The plan with the tuned settings. Unless only learning rates changed, steps are timed and counted again."""
    if request.comparison.tune_over == ("lr",):
        models = [model.changed(**{"train.lr": winners[model.name].train.lr}) for model in plan.models]
        return replace(plan, models=models)
    sized = _sized(replace(data, models=winners), None, plan.threads, log)
    if _is_by_time(request):
        steps = {name: settings.train.steps or 1 for name, settings in winners.items()}
    else:
        steps = _steps(request, sized)
    return replace(plan, models=_planned_models(request, sized, steps, plan.threads))


def _sizes(request: ComparisonRequest, data: ComparisonData) -> list[Amount | None]:
    """The sizes to try until one leaves enough steps; None keeps the settings."""
    match = request.comparison.match
    if match in SIZE_OF:
        return [Amount(match, SIZE_OF[match](data.shared, data.dataset.vocabulary.sizes))]
    if match is not None:
        return [request.comparison.sizes]
    most = data.tokens("train") / TOKENS_PER_PARAMETER
    fitting = [size for size in SIZES if size <= most] or [SIZES[-1]]
    chosen = [Amount("params", size) for size in (fitting[:1] if request.comparison.budget else fitting)]
    return [_in_total(size, data) if _has_large_vocabulary(data) else size for size in chosen]


def _has_large_vocabulary(data: ComparisonData) -> bool:
    return data.dataset.vocabulary.sizes.vocab_size > LARGE_VOCABULARY


def _in_total(core: Amount, data: ComparisonData) -> Amount:
    """The total of the smallest model with so many core parameters, in thousands."""
    sizes = data.dataset.vocabulary.sizes
    totals = [total_parameters(match_size(settings, core, sizes).settings, sizes) for settings in data.models.values()]
    return Amount("total", max(1, round(min(totals) / 1000)) * 1000)


def _matching_note(request: ComparisonRequest, sized: SizedModels) -> list[str]:
    """Why the default matches the total, if it does."""
    if request.comparison.match is not None or not _has_large_vocabulary(sized.data):
        return []
    assert sized.size is not None
    tied = sum(settings.model.tie_embeddings for settings in sized.data.models.values())
    layers = "tied" if tied == len(sized.data.models) else "separate" if not tied else "tied where a model says so"
    return [
        f"Models have equal totals of parameters ({sized.size}), because with a vocabulary of "
        f"{sized.data.dataset.vocabulary.sizes.vocab_size:,}, above {LARGE_VOCABULARY:,}, embedding and output layer "
        f"are large ({layers}); --match params=N makes the cores equal instead"
    ]


def _sized(data: ComparisonData, size: Amount | None, threads: int, log: Log) -> SizedModels:
    models, notes = data.models, []
    if size is not None:
        vocab_sizes = data.dataset.vocabulary.sizes
        matched = {name: match_size(settings, size, vocab_sizes) for name, settings in models.items()}
        models = {name: model.settings for name, model in matched.items()}
        notes = [
            f"{name} has {model.size:,} {UNITS[size.kind]}, {model.gap:+.1%} from {size.size:,.0f}: "
            f"the nearest possible size"
            for name, model in matched.items()
            if abs(model.gap) > CLOSE
        ]
    log(f"timing a step of {', '.join(models)} on {counted(threads, 'thread')}")
    sized = decide_precisions(replace(data, models=models), threads, log)
    with watch_other_programs() as others:
        timed = time_all(sized, threads)
    return SizedModels(size, sized, timed, notes, others)


def _steps(request: ComparisonRequest, sized: SizedModels) -> dict[str, int]:
    """The steps of each entrant."""
    budget, data = request.comparison.length, sized.data
    if _sets_own_budgets(request):
        return {name: _own_steps(name, sized) for name in data.models}
    if budget is None:
        return dict.fromkeys(data.models, _steps_in_time(request, sized))
    per_step = {
        "steps": lambda name: 1.0,
        "tokens": lambda name: tokens_per_step(data, name),
        "flops": lambda name: 3 * _flops_per_token(data, name) * tokens_per_step(data, name),
        "seconds": lambda name: sized.timed[name].step_seconds,
    }[budget.kind]
    return {name: max(1, round(budget.size / per_step(name))) for name in data.models}


def _sets_own_budgets(request: ComparisonRequest) -> bool:
    """Whether the settings of every model say how long it trains, as in a recipe."""
    return request.comparison.length is None and all(settings.train.budget for settings in request.models.values())


def _is_by_time(request: ComparisonRequest) -> bool:
    """Whether the minutes for everything say how long all models train."""
    return request.comparison.length is None and not _sets_own_budgets(request)


def _with_trial_steps(
    request: ComparisonRequest,
    sized: SizedModels,
    models: Sequence[PlannedModel],
    trials: Sequence[TrialSettings],
    threads: int,
) -> list[PlannedModel]:
    """The models with the steps of a whole run at the settings of each trial, in the unit of the budget."""
    if request.comparison.tune_over == ("lr",):
        return list(models)
    changes = [{key: value for key, value in trial.items() if key != "train.lr"} for trial in trials]
    sizes = sized.data.dataset.vocabulary.sizes
    variants = {
        f"{model.name} {change}": with_trial(sized.data.models[model.name], sized.size, change, sizes)
        for model in models
        for change in changes
    }
    data = replace(sized.data, models=variants)
    if _is_by_time(request):  # equal steps of equal batches are equal tokens
        tokens = {name: tokens_per_step(data, name) for name in variants}
        steps = {
            f"{model.name} {change}": max(
                1, round(model.steps * model.tokens_per_step / tokens[f"{model.name} {change}"])
            )
            for model in models
            for change in changes
        }
    else:
        timed = time_all(data, threads) if _spends_seconds(request) else {}
        steps = _steps(request, replace(sized, data=data, timed=timed))
    return [replace(model, trial_steps=[steps[f"{model.name} {change}"] for change in changes]) for model in models]


def _spends_seconds(request: ComparisonRequest) -> bool:
    budget = request.comparison.length
    if budget is not None:
        return budget.kind == "seconds"
    return any(settings.train.seconds is not None for settings in request.models.values())


def _time_warnings(request: ComparisonRequest, sized: SizedModels, estimate: float, threads: int) -> list[str]:
    """Why the comparison may take another time than requested or estimated."""
    spread = max(timing.spread for timing in sized.timed.values())
    rough = disturbance(sized.others, spread, jobs_of(request) * threads)
    warnings = [rough] if rough else []
    if _is_by_time(request) and estimate > 60 * request.comparison.minutes:
        warnings.append(
            f"{request.comparison.minutes:g} minutes are not enough for {counted(len(request.models), 'model')} with "
            f"{counted(request.comparison.seeds, 'seed')} and {counted(request.comparison.tune, 'trial')} each, "
            f"which take about {clock(estimate)} with {LEAST_STEPS} steps. Allow more --minutes, or choose fewer "
            f"--archs, --seeds or --tune."
        )
    return warnings


def _own_steps(name: str, sized: SizedModels) -> int:
    settings = sized.data.models[name]
    train = settings.train
    if train.seconds is not None:
        return max(1, round(train.seconds / sized.timed[name].step_seconds))
    epoch = sized.data.task(settings).steps_per_epoch / train.accumulate
    return train.steps or max(1, round((train.epochs or 0.0) * epoch))


def _steps_in_time(request: ComparisonRequest, sized: SizedModels) -> int:
    """As many steps as fit into the requested minutes, equal for all, and no more than a small text needs."""
    settings = sized.data.shared
    most = most_steps(settings, sized.data.task(settings).steps_per_epoch / settings.train.accumulate)
    possible = bisect_right(
        range(1, most + 1),
        PLANNED_SHARE * 60 * request.comparison.minutes,
        key=lambda steps: estimate_seconds(request, sized.data, sized.timed, dict.fromkeys(sized.timed, steps)),
    )
    return max(LEAST_STEPS, possible)


def _planned_models(
    request: ComparisonRequest, sized: SizedModels, steps: Mapping[str, int], threads: int
) -> list[PlannedModel]:
    data, planned = sized.data, []
    for name, settings in data.models.items():
        warmup = settings.train.warmup
        changes = {
            "train.steps": steps[name],
            "train.epochs": None,
            "train.seconds": None,
            "train.threads": threads,
            "train.warmup": warmup if _sets_own_budgets(request) else min(warmup, steps[name] // 10),
        }
        sizes, timing = data.dataset.vocabulary.sizes, sized.timed[name]
        fixed = with_default_dropout(settings.with_values(**changes), sizes, data.tokens("train"))
        planned.append(
            PlannedModel(
                name=name,
                settings=fixed.resolved(),
                core=core_parameters(fixed),
                step_seconds=timing.step_seconds,
                step_spread=timing.spread,
                evaluation_seconds=timing.evaluation_seconds(settings.train, steps[name]),
                trial_seconds=timing.trial_seconds,
                tokens_per_step=round(tokens_per_step(data, name)),
                flops_per_token=_flops_per_token(data, name),
                implementation=data.model(settings).backbone.implementation,
            )
        )
    return planned


def tokens_per_step(data: ComparisonData, name: str) -> float:
    """Tokens read per step: an average if sequences have unequal lengths."""
    settings = data.models[name]
    train, task = data.trained_split, data.task(settings)
    if isinstance(train, ExampleSplit):
        tokens = train.tokens / task.steps_per_epoch
    elif train.stats.by_lines:
        tokens = (train.stats.tokens - train.stats.documents) / task.steps_per_epoch
    else:
        batch: Any = task.batch("train", 0, 0)
        tokens = batch.targets_BT.numel()
    return settings.train.accumulate * tokens


def _flops_per_token(data: ComparisonData, name: str) -> int:
    settings = data.models[name]
    return data.model(settings).flops_per_token(data.sequence_length(settings))
