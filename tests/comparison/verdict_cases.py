"""Entrants, runs and floors with the values that a test needs, and nothing trained."""

from collections.abc import Sequence

import numpy as np

from seqlab.baselines.role import BaselineRole
from seqlab.comparison.results import BaselineResult, Entrant, Pair, RunResult
from seqlab.metrics.descriptions import NATS_PER_CHAR

NATS = NATS_PER_CHAR
CHARACTERS = 1024.0


def entrant(name: str, parameters: int = 1000, memory: int | None = 4096) -> Entrant:
    return Entrant(
        name=name,
        arch=name,
        settings={},
        core_parameters=parameters - 30,
        embedding_parameters=10,
        output_parameters=15,
        position_parameters=5,
        tokens_per_step=512,
        flops_per_token=1,
        flops_per_step=1,
        step_seconds=0.1,
        implementation="plain",
        lr=0.001,
        state_bytes={} if memory is None else {"1000": memory, "10": 1},
    )


def sums_of(values_U: Sequence[float] | np.ndarray) -> list[list[float]]:
    return [[float(value) * CHARACTERS, CHARACTERS] for value in values_U]


def runs_of(name: str, values_SU: Sequence[Sequence[float]] | np.ndarray, seconds: float = 100.0) -> list[RunResult]:
    """One run for each row: its value on every unit of text."""
    return [
        RunResult(
            name=name,
            arch=name,
            seed=seed,
            path=f"runs/{name}-{seed}",
            core_parameters=1,
            embedding_parameters=1,
            steps=1000,
            tokens=1,
            flops=1,
            seconds=seconds,
            best_step=1000,
            value=float(np.mean(values_U)),
            metrics={"nats_per_token": float(np.mean(values_U))},
            validation=1.0,
            carried=None,
            peak_memory=None,
            sums=sums_of(values_U),
            loss_by_position=[],
            curve=[],
        )
        for seed, values_U in enumerate(values_SU)
    ]


def baseline_of(
    name: str, values_U: Sequence[float] | np.ndarray | None, role: BaselineRole = "reference"
) -> BaselineResult:
    sums = None if values_U is None else sums_of(values_U)
    return BaselineResult(name, "about it", role, 1.0, {"nats_per_token": 1.0}, sums)


def pair_of(a: str, b: str, difference: float, verdict: str) -> Pair:
    return Pair(a=a, b=b, difference=difference, v_text=0.0, units=30, verdict=verdict, sentence="")
