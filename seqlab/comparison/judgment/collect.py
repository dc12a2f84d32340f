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
from seqlab.comparison.judgment.caps import cap_warnings
from seqlab.comparison.judgment.cautions import audit_warnings, cautions, look_warning
from seqlab.comparison.judgment.counts import counts_advice
from seqlab.comparison.judgment.distances import look_back
from seqlab.comparison.judgment.entrants import describe_entrant
from seqlab.comparison.judgment.ledger import ledger
from seqlab.comparison.judgment.memorization import generate_texts, memorization, sample, shared_prompt
from seqlab.comparison.judgment.recommendation import recommendation
from seqlab.comparison.judgment.regret import tuning_warnings
from seqlab.comparison.judgment.verdicts import ESTIMAND, judge_baseline, judge_pairs
from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import Plan, PlannedModel, difference
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.comparison.results import (
    HELD_OUT,
    Audited,
    BaselineResult,
    Best,
    Memorization,
    Results,
    RunResult,
    Sample,
)
from seqlab.config import resolve
from seqlab.data.text.split import SplitText
from seqlab.errors import DataError
from seqlab.metrics.descriptions import describe
from seqlab.models.parameter_count import parameters
from seqlab.runs.directory import RunDirectory
from seqlab.runs.log import read_log
from seqlab.runs.looks import record_comparison
from seqlab.runs.machine import git_revision, machine
from seqlab.runs.results import read_results, timestamp
from seqlab.runs.run import Run, load
from seqlab.tasks.task import Task, UnitSums

SAMPLES = 4  # texts from training to keep


def collect_results(
    plan: Plan, request: ComparisonRequest, data: ComparisonData, directory: Path, command: str
) -> Results:
    """Read every finished run, score the baselines, and judge."""
    task = data.task(data.shared)
    metric, negligible = task.metric, request.comparison.negligible
    metric = metric if negligible is None else replace(metric, negligible=negligible)
    measures = request.recipe.measures if request.recipe else ()
    planned = [(model, seed) for model in plan.models for seed in plan.seeds]
    _refuse_foreign(plan, planned, directory)
    runs = [_run_result(model, seed, directory, data, measures) for model, seed in planned]
    best = {run.name: run for run in sorted(runs, key=lambda run: -run.validation)}  # the lowest validation loss
    loaded = {model.name: load(directory / best[model.name].path) for model in plan.models}
    entrants = [describe_entrant(model, loaded[model.name], plan.threads, data) for model in plan.models]
    scored = read_scores(RunDirectory(directory / runs[0].path))
    baselines = _baselines(task, data, scored)
    pairs = judge_pairs(entrants, runs, metric)
    baseline_pairs = judge_baseline(entrants, runs, baselines, metric)
    advice = recommendation(entrants, runs, metric, pairs)
    chosen = best[advice[0].name]
    samples, copies = _generated(loaded, data)
    audits = [Audited(name, audit(run)) for name, run in loaded.items()]
    protocol = _protocol(task, data, scored)
    return Results(
        corpus=_corpus(data),
        protocol=protocol,
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
        baseline_pairs=baseline_pairs,
        recommendation=[*advice, *counts_advice(loaded[chosen.name], chosen.name, data)],
        best=Best(chosen.name, chosen.seed, chosen.path),
        trials=plan.trial_results,
        samples=samples,
        memorization=copies,
        audits=audits,
        distances=look_back(loaded, data),
        ledger=ledger(plan, data),
        warnings=[
            *audit_warnings(audits),
            *plan.warnings,
            *cautions(runs, pairs, baseline_pairs, chosen.name, protocol.get("examples")),
            *look_warning(record_comparison(directory, data.dataset.data) if data.deciding_split == "test" else ()),
            *cap_warnings(runs, data, scored),
            *tuning_warnings(plan.trial_results, plan.horizon, pairs, task.loss_unit),
            *_failed_measures(runs),
            *plan.notes,
        ],
        machine=machine(),
        versions=loaded[chosen.name].config["versions"],
        date=timestamp(),
        commit=loaded[chosen.name].config.get("git"),
    )


def results_without_models(request: ComparisonRequest, command: str) -> Results:
    """The results of a recipe that trains nothing and only has shows."""
    return Results(
        command=command,
        plan={"recipe": request.recipe and request.recipe.name},
        machine=machine(),
        versions={"seqlab": __version__},
        date=timestamp(),
        commit=git_revision(),
    )


def thinned(items: Sequence[Any], most: int) -> list[Any]:
    """At most `most` of the items, evenly spaced, with the last one."""
    every = -(-len(items) // most) or 1
    return list(items[::-1][::every][::-1])


def _refuse_foreign(plan: Plan, planned: Sequence[tuple[PlannedModel, int]], directory: Path) -> None:
    """DataError for a run with another text or other settings than planned."""
    for model, seed in planned:
        path = directory / model.run_path(seed)
        config = RunDirectory(path).config()
        actual = {
            "text": config["corpus"]["fingerprint"],
            "tokenizer": config.get("tokenizer_fingerprint"),
            "settings": resolve(config["settings"]).resolved(),
        }
        expected = {
            "text": plan.fingerprints["corpus"],
            "tokenizer": plan.fingerprints["tokenizer"],
            "settings": model.changed(**{"train.seed": seed}).settings,
        }
        changes = difference(expected, actual)
        if changes:
            raise DataError(
                f"'{path}' is not a run of this comparison: {'; '.join(changes[:5])}. Remove it and repeat the command."
            )


def _run_result(
    model: PlannedModel, seed: int, directory: Path, data: ComparisonData, measures: Sequence[str]
) -> RunResult:
    run = RunDirectory(directory / model.run_path(seed))
    scored, settings = read_scores(run), model.run_settings
    count = parameters(settings, data.dataset.vocabulary.sizes)
    curve = [line for line in read_log(run.metrics) if "validation_loss" in line]
    results = read_results(run)
    assert results is not None, "a run that was scored is finished"
    return RunResult(
        name=model.name,
        arch=settings.backbone.name,
        seed=seed,
        path=model.run_path(seed),
        core_parameters=count.core,
        embedding_parameters=count.embedding,
        steps=model.steps,
        tokens=model.tokens,
        flops=model.flops,
        seconds=model.seconds,
        best_step=results.best_step,
        value=float(data.task(settings).metric.value(np.sum(scored.sums_UK, 0))),
        metrics=scored.metrics,
        validation=results.criterion,
        carried=scored.carried,
        peak_memory=scored.peak_memory,
        sums=scored.sums_UK,
        loss_by_position=scored.loss_by_position,
        curve=_curve(curve),
        measures={name: read_measure(run.path, name, directory) for name in measures},
        samples=thinned(
            [{"step": line["step"], "text": line["sample"]} for line in curve if line.get("sample")], SAMPLES
        ),
    )


def _curve(evaluations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Losses by step; the plain cross-entropy is among them where training minimizes another loss."""
    keys = ["step", "train_loss", "validation_loss"]
    keys += ["train_cross_entropy"] if any("train_cross_entropy" in line for line in evaluations) else []
    return [{key: line.get(key) for key in keys} for line in evaluations]


def _failed_measures(runs: Sequence[RunResult]) -> list[str]:
    return [
        f"{name} could not be measured on {run.name}-{run.seed}: {measure.failure}"
        for run in runs
        for name, measure in run.measures.items()
        if measure.failure
    ]


def _baselines(task: Task, data: ComparisonData, scored: RunScores) -> list[BaselineResult]:
    """The task's baselines, on the same units as the runs."""
    units = UnitSums(np.array(scored.sums_UK), np.array(scored.tokens_U))
    results = []
    for baseline in task.score_baselines(data.dataset, data.deciding_split, units):
        sums = None if baseline.sums_UK is None else baseline.sums_UK.tolist()
        results.append(
            BaselineResult(
                name=baseline.name,
                about=baseline.about,
                role=baseline.role,
                value=baseline.value,
                metrics=baseline.metrics,
                sums=sums,
                carried=baseline.carried["nats_per_token"] if baseline.carried and len(task.modes) > 1 else None,
            )
        )
    return results


def _generated(loaded: dict[str, Run], data: ComparisonData) -> tuple[list[Sample], list[Memorization]]:
    """A sample of each entrant with the same prompt, and how much of its generated text is copied."""
    generating = {name: run for name, run in loaded.items() if run.generates}
    if not generating:
        return [], []
    split = data.dataset.data
    prompt = shared_prompt(split, data.deciding_split)
    texts = {name: generate_texts(run) for name, run in generating.items()}
    longest = max(map(len, texts.values()))
    texts[HELD_OUT] = split.text(data.deciding_split, longest)
    return [sample(run, name, prompt) for name, run in generating.items()], memorization(texts, split)


def _corpus(data: ComparisonData) -> dict[str, Any]:
    dataset, facts = data.dataset, data.dataset.facts()
    split = {"split": facts.get("rule"), "examples": facts.get("examples")}
    if data.left_out:
        trained = len(dataset.splits["train"]) - data.left_out
        split["trained_on"] = f"{trained:,} examples; the other {data.left_out:,} are longer than task.max_length"
    if isinstance(dataset.data, SplitText):
        split = {"split": dataset.data.rule, "documents": dataset.data.settings.documents}
    said = {"said of it": "; ".join(facts["notes"])} if facts.get("notes") else {}
    return {key: facts[key] for key in ("name", "about", "characters", "fingerprint")} | split | said


def _protocol(task: Task, data: ComparisonData, scored: RunScores) -> dict[str, Any]:
    settings, vocabulary = data.shared, data.dataset.vocabulary
    protocol = {
        "task": settings.task.name,
        "scored_split": data.deciding_split,
        "tokenizer": settings.tokenizer.name,
        "tokenizer_fingerprint": vocabulary.fingerprint,
        "vocab_size": vocabulary.tokenizer.vocab_size,
        "tokens": sum(scored.tokens_U),
    }
    if isinstance(data.dataset.data, SplitText):
        characters = round(float(np.sum(scored.sums_UK, 0)[1]))
        window = settings.task.settings.sequence_length
        return {**protocol, "mode": task.mode, "window": window, "characters": characters}
    protocol |= {"examples": len(scored.sums_UK), "evaluation": settings.evaluation}
    return {**protocol, "signature": task.signature} if task.signature else protocol


def _plan(plan: Plan, request: ComparisonRequest) -> dict[str, Any]:
    return {
        **request.comparison.model_dump(mode="json"),
        "archs": list(request.models),
        "match": str(plan.size) if plan.size else request.comparison.match,
        "recipe": request.recipe and request.recipe.name,
        "seeds": plan.seeds,
        "threads": plan.threads,
        "horizon": plan.horizon,
        "steps": {model.name: model.steps for model in plan.models},
        "estimate": plan.estimate,
    }
