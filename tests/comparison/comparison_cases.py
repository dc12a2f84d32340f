"""Results of comparisons that nobody ran: plausible numbers, and strings that mean harm."""

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from seqlab.audit.result import CheckResult
from seqlab.comparison.judgment.cautions import seed_warnings
from seqlab.comparison.judgment.recommendation import recommendation
from seqlab.comparison.judgment.verdicts import ESTIMAND, judge_baseline, judge_pairs
from seqlab.comparison.results import (
    Audited,
    BaselineResult,
    Best,
    Distances,
    Entrant,
    Ledger,
    Memorization,
    Results,
    RunResult,
    Sample,
    Trial,
)
from seqlab.metrics.descriptions import DESCRIPTIONS, NATS_PER_CHAR
from seqlab.metrics.likelihood import likelihood

# name: loss, core parameters, seconds of a step, FLOPs of a token, form, rate
MODELS = {
    "lstm": (1.482, 504_832, 0.0312, 1_130_000, "compiled loop", 0.0032),
    "gru": (1.486, 498_432, 0.0254, 1_110_000, "compiled loop", 0.0032),
    "rnn": (1.702, 501_760, 0.0121, 1_120_000, "compiled loop", 0.001),
    "transformer": (1.463, 502_272, 0.0447, 1_260_000, "fused attention", 0.001),
}
CARRYING = ("lstm", "gru", "rnn")
STEPS, TOKENS, UNITS, WINDOW = 4000, 4096, 40, 128
COUNTED = "kneser-ney (order 6)"


def realistic(seeds: int = 3, names: tuple[str, ...] = tuple(MODELS), first_seed: int = 0) -> Results:
    """Four entrants, three seeds."""
    runs = [run(name, seed) for name in names for seed in range(first_seed, first_seed + seeds)]
    entrants, metric = [entrant(name) for name in names], NATS_PER_CHAR
    pairs = judge_pairs(entrants, runs, metric)
    advice = recommendation(entrants, runs, metric, pairs)
    return Results(
        corpus={
            "name": "tiny-shakespeare",
            "about": "40,000 lines of plays",
            "characters": 1_115_394,
            "fingerprint": "86c4e6aa9db7c042",
            "split": "80/10/10",
        },
        protocol={
            "scored_split": "test",
            "mode": "window",
            "window": WINDOW,
            "tokenizer": "char",
            "vocab_size": 65,
            "tokens": 111_539,
            "characters": 111_539,
        },
        metric=metric,
        reported_metrics=[DESCRIPTIONS["bits_per_char"], DESCRIPTIONS["perplexity"]],
        loss_unit="nats per token",
        estimand=ESTIMAND,
        command="seqlab compare tiny-shakespeare --archs lstm,gru,rnn,transformer --budget steps=4000 --out comparison",
        plan={
            "archs": list(names),
            "seeds": list(range(first_seed, first_seed + seeds)),
            "budget": "steps=4000",
            "match": "params=500000",
            "tune": 3,
            "jobs": 2,
            "threads": 1,
            "minutes": 15.0,
            "steps": dict.fromkeys(names, STEPS),
        },
        entrants=entrants,
        runs=runs,
        baselines=baselines(),
        pairs=pairs,
        baseline_pairs=judge_baseline(entrants, runs, baselines(), metric),
        recommendation=advice,
        best=Best(advice[0].name, first_seed, f"runs/{advice[0].name}-{first_seed}"),
        trials=[trial(name, rate) for name in names for rate in (0.001, 0.0032, 0.01)],
        samples=[sample(name, first_seed) for name in names],
        memorization=[*(memorized(name) for name in names), memorized("held-out text")],
        audits=[audited(name) for name in names],
        distances=[looked_back(name, first_seed) for name in names],
        ledger=Ledger(
            {"steps": "4,000", "batch x window": "32 x 128", "trials of the learning rate": "3"},
            {"width": {name: str(width) for name, width in zip(names, (288, 336, 512, 160), strict=False)}},
        ),
        warnings=["rnn has 501,760 core parameters, +1.2% from 496,000: the nearest there is", *seed_warnings(runs)],
        machine="2 cores of an Intel Xeon at 2.1 GHz, 8 GB, Linux 6.1",
        versions={"seqlab": "0.1.0", "torch": "2.13.0", "python": "3.11.9"},
        date="2026-11-16T03:23:12Z",
    )


def looked_back(name: str, seed: int) -> Distances:
    """A Transformer sees no further than its context; the others forget."""
    k = np.arange(128)
    kept = {"lstm": 0.95, "gru": 0.9, "rnn": 0.6}
    memory = 0.4 / (1 + k) * (k < 64) if name == "transformer" else 2.0 * kept[name] ** k
    return Distances(name, seed, 256, (0.5 * memory).tolist(), memory.tolist())


def entrant(name: str) -> Entrant:
    _, core, step, flops, implementation, rate = MODELS[name]
    grows = name == "transformer"
    state = {"100": 82_000, "1000": 820_000} if grows else {"100": 2304, "1000": 2304}
    return Entrant(
        name=name,
        arch=name,
        settings={
            "backbone": {"name": name, "layers": 2, "dropout": 0.1},
            "train": {"lr": rate, "steps": STEPS, "betas": [0.9, 0.99], "clip": None},
            "model": {"embedding": 64, "tie_embeddings": True},
        },
        core_parameters=core,
        embedding_parameters=4160,
        output_parameters=4225,
        position_parameters=0,
        tokens_per_step=TOKENS,
        flops_per_token=flops,
        flops_per_step=3 * flops * TOKENS,
        step_seconds=step,
        implementation=implementation,
        lr=rate,
        state_bytes=state,
        generation={"100": 1210.0 if grows else 3105.0, "1000": 640.0 if grows else 3098.0},
    )


def run(name: str, seed: int) -> RunResult:
    loss, core, step, flops, _, _ = MODELS[name]
    draw = np.random.default_rng([seed, *name.encode()])
    value = loss + float(draw.normal(0, 0.004))
    steps = [step for step in range(100, STEPS + 1, 100)]
    curve = [
        {"step": float(at), "train_loss": went - 0.08, "validation_loss": went}
        for at in steps
        for went in [value + 1.6 * (100 / at) ** 0.6 - 1.6 * (100 / STEPS) ** 0.6 + float(draw.normal(0, 0.008))]
    ]
    length = np.arange(1, WINDOW + 1)
    by_position = value - 0.05 + 1.4 / length**0.8 + draw.normal(0, 0.02, WINDOW)
    sums = [[1024 * (value + hard + float(draw.normal(0, 0.01))), 1024.0] for hard in hardness()]
    return RunResult(
        name=name,
        arch=name,
        seed=seed,
        path=f"runs/{name}-{seed}",
        core_parameters=core,
        embedding_parameters=4160,
        steps=STEPS,
        tokens=STEPS * TOKENS,
        flops=3 * flops * TOKENS * STEPS,
        seconds=STEPS * step,
        best_step=STEPS - 200,
        value=value,
        metrics=figures(value),
        validation=value - 0.02 - 0.01 * (seed % 2),  # the best here need not be the best on the test part
        carried=value - 0.015 if name in CARRYING else None,
        peak_memory=412_000_000 + 1000 * seed,
        sums=sums,
        loss_by_position=by_position.tolist(),
        curve=curve,
    )


def figures(nats: float) -> dict[str, float]:
    """Of a text whose tokens are characters of one byte."""
    return asdict(likelihood(nats * 111_539, 111_539, 111_539, 111_539))


def hardness() -> list[float]:
    """By how much each unit of the text is harder than the mean, for all models."""
    drawn = np.random.default_rng(7).normal(0, 0.08, UNITS)
    return (drawn - drawn.mean()).tolist()


def baselines() -> list[BaselineResult]:
    known = {
        "unigram": (3.311, "how often each token occurs, and one more of each"),
        COUNTED: (1.737, "modified Kneser-Ney, its order chosen on the end of the training text"),
        "xz": (2.402, "xz -9e: what the held-out text adds to the compressed training text"),
    }
    return [
        BaselineResult(
            name=name,
            about=about,
            role="main" if name == COUNTED else "reference",
            value=value,
            metrics=figures(value),
            sums=[[1024 * (value + hard), 1024.0] for hard in hardness()] if name == COUNTED else None,
        )
        for name, (value, about) in known.items()
    ]


def trial(name: str, rate: float) -> Trial:
    loss, best = MODELS[name][0], MODELS[name][5]
    failed = name == "rnn" and rate == 0.01
    return Trial(
        name, {"train.lr": rate}, None if failed else loss + 0.4 + abs(math.log(rate / best)) / 6, rate == best
    )


def sample(name: str, seed: int) -> Sample:
    text = "ROMEO:\nI do beseech you, let the matter rest;\nThe night is old, and we are far from home.\n\n"
    text += "JULIET:\nAnd yet thou speak'st as one who would not go,\nNor stay, nor any thing between the two.\n\n"
    return Sample(name, seed, "ROMEO:", 0.8, text + f"NURSE:\nMadam, the {name} is at the gate.")


def memorized(name: str) -> Memorization:
    longest = " what is the matter" if name != "held-out text" else "My lord, I will not "
    return Memorization(name, 20_000, len(longest), longest, 0.31 + 0.01 * len(name) % 0.1)


def audited(name: str) -> Audited:
    return Audited(
        name,
        [
            CheckResult("causality", True, "changing a later token changes no earlier output: largest change 0"),
            CheckResult("state", name != "rnn", f"the {name} in pieces differs from the whole by at most 3e-7"),
        ],
    )


FREE = ("settings", "ledger", "versions")  # whose keys are words too


def replaced(results: Results, change: Callable[[str], str]) -> Results:
    """Every string of the results put through `change`: names in all their places, and the keys of free tables."""

    def walk(value: Any, keys: bool) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {change(key) if keys else key: walk(item, keys or key in FREE) for key, item in value.items()}
        return [walk(item, keys) for item in value] if isinstance(value, list) else value

    result = walk(asdict(results), keys=False)
    result["ledger"] = dict(zip(("equal", "unequal"), result["ledger"].values(), strict=True))
    for advice, before in zip(result["recommendation"], results.recommendation, strict=True):
        advice["lens"] = before.lens  # one of four words
    for pair, before in zip(
        result["pairs"] + result["baseline_pairs"], results.pairs + results.baseline_pairs, strict=True
    ):
        pair["verdict"] = before.verdict
    for metric, before in zip(
        [result["metric"], *result["reported_metrics"]], [results.metric, *results.reported_metrics], strict=True
    ):
        metric |= {"key": before.key, "aggregate": before.aggregate}  # what code reads
    for baseline, before in zip(result["baselines"], results.baselines, strict=True):
        baseline["role"] = before.role
    result["memorization"][-1]["name"] = results.memorization[-1].name  # that of the reference
    return TypeAdapter(Results).validate_python(result)
