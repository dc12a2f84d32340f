"""From finished runs to results: scores, floors, costs, samples, audits, and what follows from them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.audit.audit import audit
from seqlab.comparison.execution.scores import Scored, read_scored
from seqlab.comparison.judgment.ledger import evaluation, ledger
from seqlab.comparison.judgment.memorization import memorized, sample, shared_prompt, written_by
from seqlab.comparison.judgment.verdicts import ESTIMAND, judge_baseline, judge_pairs, recommendation, seed_warnings
from seqlab.comparison.plan.plan import RUNS, Plan, PlannedModel, difference
from seqlab.comparison.plan.prepared import Prepared
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.comparison.results import (
    HELD_OUT,
    Audited,
    BaselineResult,
    Best,
    Entrant,
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
from seqlab.models.parameter_count import parameters
from seqlab.runs.directory import RunDirectory
from seqlab.runs.log import read_log
from seqlab.runs.machine import machine
from seqlab.runs.results import read_results, timestamp
from seqlab.runs.run import Run, load
from seqlab.tasks.task import UnitSums


def gather(plan: Plan, asked: ComparisonRequest, prepared: Prepared, directory: Path, command: str) -> Results:
    task = prepared.task(next(iter(prepared.models.values())))
    metric, negligible = task.metric, asked.comparison.negligible
    metric = metric if negligible is None else replace(metric, negligible=negligible)
    for name in asked.models:
        for seed in plan.seeds:
            refuse_foreign(plan, name, seed, directory)
    runs = [_run(plan.model(name), seed, directory, prepared) for name in asked.models for seed in plan.seeds]
    # of each, the seed with the lowest validation loss
    best = {run.name: run for run in sorted(runs, key=lambda run: -run.validation)}
    loaded = {name: load(directory / best[name].path) for name in asked.models}
    entrants = [_entrant(plan, prepared, loaded[name]) for name in asked.models]
    scored = read_scored(RunDirectory(directory / runs[0].path))
    baselines = _floors(prepared, scored)
    pairs = judge_pairs(entrants, runs, metric)
    advice = recommendation(entrants, runs, metric, pairs)
    chosen = best[advice[0].name]
    samples, copies = _written(loaded, prepared)
    return Results(
        corpus=_corpus(prepared),
        protocol=_protocol(plan, prepared, scored),
        metric=metric,
        reported_metrics=[describe(key) for key in task.reported_metrics if key != metric.key],
        loss_unit=task.loss_unit,
        estimand=ESTIMAND,
        command=command,
        plan=_plan(plan, asked),
        entrants=entrants,
        runs=runs,
        baselines=baselines,
        pairs=pairs,
        baseline_pairs=judge_baseline(entrants, runs, baselines, metric),
        recommendation=advice,
        best=Best(chosen.name, chosen.seed, chosen.path),
        trials=plan.tried,
        samples=samples,
        memorization=copies,
        audits=[Audited(name, audit(run)) for name, run in loaded.items()],
        ledger=ledger(plan, prepared),
        warnings=[*plan.notes, *seed_warnings(runs)],
        machine=machine(),
        versions=next(iter(loaded.values())).config["versions"],
        date=timestamp(),
    )


def refuse_foreign(plan: Plan, name: str, seed: int, directory: Path) -> None:
    """DataError for a run on another text, or with other settings, than was planned."""
    path = directory / RUNS / f"{name}-{seed}"
    config = RunDirectory(path).config()
    found = {
        "text": config["corpus"]["fingerprint"],
        "tokenizer": config.get("tokenizer_fingerprint"),
        "settings": resolve(config["settings"]).resolved(),
    }
    planned = {
        "text": plan.fingerprints["corpus"],
        "tokenizer": plan.fingerprints["tokenizer"],
        "settings": plan.model(name).changed(**{"train.seed": seed}).settings,
    }
    wrong = difference(planned, found)
    if wrong:
        raise DataError(
            f"'{path}' is not a run of this comparison: {'; '.join(wrong[:5])}. Remove it, and give the command again."
        )


def _run(model: PlannedModel, seed: int, directory: Path, prepared: Prepared) -> RunResult:
    place = f"{RUNS}/{model.name}-{seed}"
    run = RunDirectory(directory / place)
    scored, settings = read_scored(run), model.run_settings
    count = parameters(settings, prepared.dataset.vocabulary.sizes)
    curve = [line for line in read_log(run.metrics) if "validation_loss" in line]
    results = read_results(run)
    assert results is not None, "a run that was scored is finished"
    judged = prepared.task(settings).metric
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
    )


def _entrant(plan: Plan, prepared: Prepared, run: Run) -> Entrant:
    model = plan.model(run.path.name.rpartition("-")[0])
    settings = model.run_settings
    count = parameters(settings, prepared.dataset.vocabulary.sizes)
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


def _floors(prepared: Prepared, scored: Scored) -> list[BaselineResult]:
    """On the same units as the runs."""
    task = prepared.task(next(iter(prepared.models.values())))
    units = UnitSums(np.array(scored.sums_UK), np.array(scored.tokens_U))
    return [
        BaselineResult(
            one.name, one.about, one.role, one.value, one.metrics, None if one.sums_UK is None else one.sums_UK.tolist()
        )
        for one in task.score_baselines(prepared.dataset, prepared.decides, units)
    ]


def _written(loaded: dict[str, Run], prepared: Prepared) -> tuple[list[Sample], list[Memorization]]:
    """What each writes after the same beginning, and how much of its writing is copied."""
    writing = {name: run for name, run in loaded.items() if run.generates}
    if not writing:
        return [], []
    split = prepared.dataset.data
    prompt = shared_prompt(split, prepared.decides)
    texts = {name: written_by(run) for name, run in writing.items()}
    longest = max(map(len, texts.values()))
    texts[HELD_OUT] = split.text(prepared.decides, longest)
    return [sample(run, name, prompt) for name, run in writing.items()], memorized(texts, split)


def _corpus(prepared: Prepared) -> dict[str, Any]:
    dataset = prepared.dataset
    facts = dataset.facts()
    own = {"split": facts.get("rule"), "examples": facts.get("examples")}
    if isinstance(dataset.data, SplitText):
        own = {"split": dataset.data.settings.split_ratios, "documents": dataset.data.settings.documents}
    return {key: facts[key] for key in ("name", "about", "characters", "fingerprint")} | own


def _protocol(plan: Plan, prepared: Prepared, scored: Scored) -> dict[str, Any]:
    one = plan.models[0].run_settings
    vocabulary = prepared.dataset.vocabulary
    shared = {
        "task": one.task.name,
        "part": prepared.decides,
        "tokenizer": one.tokenizer.name,
        "tokenizer_fingerprint": vocabulary.fingerprint,
        "vocab_size": vocabulary.tokenizer.vocab_size,
        "tokens": sum(scored.tokens_U),
    }
    if isinstance(prepared.dataset.data, SplitText):
        characters = round(float(np.sum(scored.sums_UK, 0)[1]))
        return {**shared, "context": "window", "window": one.task.settings.sequence_length, "characters": characters}
    signature = prepared.task(one).signature
    counted = {"signature": signature} if signature else {}
    return {**shared, "examples": len(scored.sums_UK), "evaluation": evaluation(one), **counted}


def _plan(plan: Plan, asked: ComparisonRequest) -> dict[str, Any]:
    return {
        **asked.comparison.model_dump(mode="json"),
        "archs": list(asked.models),
        "recipe": asked.recipe,
        "seeds": plan.seeds,
        "threads": plan.threads,
        "horizon": plan.horizon,
        "steps": {model.name: model.steps for model in plan.models},
        "estimate": plan.estimate,
    }
