"""From finished runs to results: scores, baselines, costs, measures, samples, audits, and the verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seqlab import __version__
from seqlab.audit.audit import audit
from seqlab.comparison.execution.measuring import read_measure
from seqlab.comparison.execution.scores import RunScores, read_scores
from seqlab.comparison.judgment.ledger import evaluation, ledger
from seqlab.comparison.judgment.memorization import generated_by, memorized, sample, shared_prompt
from seqlab.comparison.judgment.verdicts import ESTIMAND, judge_baseline, judge_pairs, recommendation, seed_warnings
from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import RUNS, Plan, PlannedModel, difference
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.comparison.results import (
    HELD_OUT,
    Audited,
    BaselineResult,
    Best,
    Entrant,
    Ledger,
    Memorization,
    Results,
    RunResult,
    Sample,
)
from seqlab.config import resolve
from seqlab.data.text.split import SplitText
from seqlab.errors import DataError
from seqlab.measures.cost import generation, state_bytes
from seqlab.metrics.descriptions import describe
from seqlab.metrics.metric import Metric
from seqlab.models.parameter_count import parameters
from seqlab.runs.directory import RunDirectory
from seqlab.runs.log import read_log
from seqlab.runs.machine import git_revision, machine
from seqlab.runs.results import read_results, timestamp
from seqlab.runs.run import Run, load
from seqlab.tasks.task import UnitSums

SAMPLES = 4  # texts generated during training that are kept


def collect_results(
    plan: Plan, request: ComparisonRequest, data: ComparisonData, directory: Path, command: str
) -> Results:
    """Read every finished run, score the baselines, and judge."""
    task = data.task(next(iter(data.models.values())))
    metric, negligible = task.metric, request.comparison.negligible
    metric = metric if negligible is None else replace(metric, negligible=negligible)
    for name in request.models:
        for seed in plan.seeds:
            refuse_foreign(plan, name, seed, directory)
    measures = request.recipe.measures if request.recipe else ()
    runs = [_run(plan.model(name), seed, directory, data, measures) for name in request.models for seed in plan.seeds]
    # of each entrant, the seed with the lowest validation loss
    best = {run.name: run for run in sorted(runs, key=lambda run: -run.validation)}
    loaded = {name: load(directory / best[name].path) for name in request.models}
    entrants = [_entrant(plan, data, loaded[name]) for name in request.models]
    scored = read_scores(RunDirectory(directory / runs[0].path))
    baselines = _baselines(data, scored)
    pairs = judge_pairs(entrants, runs, metric)
    advice = recommendation(entrants, runs, metric, pairs)
    chosen = best[advice[0].name]
    samples, copies = _generated(loaded, data)
    return Results(
        corpus=_corpus(data),
        protocol=_protocol(plan, data, scored),
        metric=metric,
        reported_metrics=[describe(key) for key in task.reported_metrics if key != metric.key],
        loss_unit=task.loss_unit,
        estimand=ESTIMAND,
        command=command,
        plan=_plan(plan, request),
        entrants=entrants,
        runs=runs,
        baselines=baselines,
        pairs=pairs,
        baseline_pairs=judge_baseline(entrants, runs, baselines, metric),
        recommendation=advice,
        best=Best(chosen.name, chosen.seed, chosen.path),
        trials=plan.trial_results,
        samples=samples,
        memorization=copies,
        audits=[Audited(name, audit(run)) for name, run in loaded.items()],
        ledger=ledger(plan, data),
        warnings=[*plan.notes, *seed_warnings(runs), *_measure_warnings(runs)],
        machine=machine(),
        versions=next(iter(loaded.values())).config["versions"],
        date=timestamp(),
        commit=next(iter(loaded.values())).config.get("git"),
    )


def results_without_models(request: ComparisonRequest, command: str) -> Results:
    """The results of a recipe that trains nothing: only what it shows is added to them."""
    return Results(
        corpus={},
        protocol={},
        metric=Metric("", "", ""),
        reported_metrics=[],
        loss_unit="",
        estimand="",
        command=command,
        plan={"recipe": request.recipe and request.recipe.name},
        entrants=[],
        runs=[],
        baselines=[],
        pairs=[],
        baseline_pairs=[],
        recommendation=[],
        best=Best("", 0, ""),
        trials=[],
        samples=[],
        memorization=[],
        audits=[],
        ledger=Ledger({}, {}),
        warnings=[],
        machine=machine(),
        versions={"seqlab": __version__},
        date=timestamp(),
        commit=git_revision(),
    )


def spread(items: Sequence[Any], most: int = SAMPLES) -> list[Any]:
    """At most `most` of the items, evenly spread, the last included."""
    every = -(-len(items) // most) or 1
    return list(items[::-1][::every][::-1])


def _measure_warnings(runs: Sequence[RunResult]) -> list[str]:
    return [
        f"{name} could not be measured on {run.name}-{run.seed}: {result.failure}"
        for run in runs
        for name, result in run.measures.items()
        if result.failure
    ]


def refuse_foreign(plan: Plan, name: str, seed: int, directory: Path) -> None:
    """DataError for a run with another text or other settings than planned."""
    path = directory / RUNS / f"{name}-{seed}"
    config = RunDirectory(path).config()
    actual = {
        "text": config["corpus"]["fingerprint"],
        "tokenizer": config.get("tokenizer_fingerprint"),
        "settings": resolve(config["settings"]).resolved(),
    }
    planned = {
        "text": plan.fingerprints["corpus"],
        "tokenizer": plan.fingerprints["tokenizer"],
        "settings": plan.model(name).changed(**{"train.seed": seed}).settings,
    }
    wrong = difference(planned, actual)
    if wrong:
        raise DataError(
            f"'{path}' is not a run of this comparison: {'; '.join(wrong[:5])}. Remove it and repeat the command."
        )


def _run(model: PlannedModel, seed: int, directory: Path, data: ComparisonData, measures: Sequence[str]) -> RunResult:
    place = f"{RUNS}/{model.name}-{seed}"
    run = RunDirectory(directory / place)
    scored, settings = read_scores(run), model.run_settings
    count = parameters(settings, data.dataset.vocabulary.sizes)
    curve = [line for line in read_log(run.metrics) if "validation_loss" in line]
    results = read_results(run)
    assert results is not None, "a run that was scored is finished"
    judged = data.task(settings).metric
    return RunResult(
        name=model.name,
        arch=settings.backbone.name,
        seed=seed,
        path=place,
        core_parameters=count.core,
        embedding_parameters=count.embedding,
        steps=model.steps,
        tokens=model.steps * model.tokens_per_step,
        flops=model.steps * model.flops_per_step,
        seconds=model.seconds,
        best_step=results.best_step,
        value=float(judged.value(np.sum(scored.sums_UK, 0))),
        metrics=scored.metrics,
        validation=results.criterion,
        carried=scored.carried,
        peak_memory=scored.peak_memory,
        sums=scored.sums_UK,
        loss_by_position=scored.loss_by_position,
        curve=[{key: line[key] for key in ("step", "train_loss", "validation_loss")} for line in curve],
        measures={name: read_measure(run.path, name, directory) for name in measures},
        samples=spread([{"step": line["step"], "text": line["sample"]} for line in curve if line.get("sample")]),
    )


def _entrant(plan: Plan, data: ComparisonData, run: Run) -> Entrant:
    model = plan.model(run.path.name.rpartition("-")[0])
    settings = model.run_settings
    count = parameters(settings, data.dataset.vocabulary.sizes)
    return Entrant(
        name=model.name,
        arch=settings.backbone.name,
        settings=model.settings,
        core_parameters=count.core,
        embedding_parameters=count.embedding,
        output_parameters=count.output,
        position_parameters=count.positions,
        tokens_per_step=model.tokens_per_step,
        flops_per_token=model.flops_per_token,
        flops_per_step=model.flops_per_step,
        step_seconds=model.step_seconds,
        implementation=model.implementation,
        lr=settings.train.lr,
        state_bytes=state_bytes(run),
        generation=generation(run, plan.threads),
    )


def _baselines(data: ComparisonData, scored: RunScores) -> list[BaselineResult]:
    """The task's baselines, on the same units as the runs."""
    task = data.task(next(iter(data.models.values())))
    units = UnitSums(np.array(scored.sums_UK), np.array(scored.tokens_U))
    return [
        BaselineResult(
            one.name, one.about, one.role, one.value, one.metrics, None if one.sums_UK is None else one.sums_UK.tolist()
        )
        for one in task.score_baselines(data.dataset, data.deciding_split, units)
    ]


def _generated(loaded: dict[str, Run], data: ComparisonData) -> tuple[list[Sample], list[Memorization]]:
    """A sample of each after the same prompt, and how much of its generated text is copied."""
    generating = {name: run for name, run in loaded.items() if run.generates}
    if not generating:
        return [], []
    split = data.dataset.data
    prompt = shared_prompt(split, data.deciding_split)
    texts = {name: generated_by(run) for name, run in generating.items()}
    longest = max(map(len, texts.values()))
    texts[HELD_OUT] = split.text(data.deciding_split, longest)
    return [sample(run, name, prompt) for name, run in generating.items()], memorized(texts, split)


def _corpus(data: ComparisonData) -> dict[str, Any]:
    dataset = data.dataset
    facts = dataset.facts()
    own = {"split": facts.get("rule"), "examples": facts.get("examples")}
    if isinstance(dataset.data, SplitText):
        own = {"split": dataset.data.settings.split_ratios, "documents": dataset.data.settings.documents}
    return {key: facts[key] for key in ("name", "about", "characters", "fingerprint")} | own


def _protocol(plan: Plan, data: ComparisonData, scored: RunScores) -> dict[str, Any]:
    one = plan.models[0].run_settings
    vocabulary = data.dataset.vocabulary
    shared = {
        "task": one.task.name,
        "scored_split": data.deciding_split,
        "tokenizer": one.tokenizer.name,
        "tokenizer_fingerprint": vocabulary.fingerprint,
        "vocab_size": vocabulary.tokenizer.vocab_size,
        "tokens": sum(scored.tokens_U),
    }
    if isinstance(data.dataset.data, SplitText):
        characters = round(float(np.sum(scored.sums_UK, 0)[1]))
        return {**shared, "mode": "window", "window": one.task.settings.sequence_length, "characters": characters}
    signature = data.task(one).signature
    counted = {"signature": signature} if signature else {}
    return {**shared, "examples": len(scored.sums_UK), "evaluation": evaluation(one), **counted}


def _plan(plan: Plan, request: ComparisonRequest) -> dict[str, Any]:
    return {
        **request.comparison.model_dump(mode="json"),
        "archs": list(request.models),
        "recipe": request.recipe and request.recipe.name,
        "seeds": plan.seeds,
        "threads": plan.threads,
        "horizon": plan.horizon,
        "steps": {model.name: model.steps for model in plan.models},
        "estimate": plan.estimate,
    }
