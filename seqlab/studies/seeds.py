"""Several seeds of a model on the test part: the mean with its interval, and by how much two models differ."""

from itertools import combinations

import numpy as np

from seqlab.comparison.judgment.statistics import estimate, holm, level, level_interval
from seqlab.metrics.descriptions import DESCRIPTIONS
from seqlab.studies.record import Record

METRICS = {name: metric for metric in DESCRIPTIONS.values() for name in (metric.key, metric.label)}
LEVELS = ["model", "seeds", "mean", "95 % for fresh seeds and fresh text"]
DIFFERENCES = ["pair", "difference", "95 %", "p, adjusted"]


def by_model(records: list[Record]) -> dict[str, np.ndarray]:
    """The sums of the runs of each model that was trained with several seeds and scored, (S, U, K)."""
    scored: dict[str, list[list[list[float]]]] = {}
    for record in records:
        if "test" in record.measures:
            scored.setdefault(record.model, []).append(record.measures["test"]["data"]["sums"])
    return {model: np.array(runs) for model, runs in scored.items() if len(runs) > 1}


def levels(metric: str, models: dict[str, np.ndarray], baselines: dict[str, float]) -> list[list[str]]:
    """A row for each model, and for what needs no training."""
    judged = METRICS[metric]
    rows = []
    for model, sums_SUK in models.items():
        found = level_interval(sums_SUK, judged.value)
        sure = "-" if found is None else "{:.2f} to {:.2f}".format(*judged.possible(found))
        rows.append([model, str(len(sums_SUK)), f"{level(sums_SUK, judged.value):.2f}", sure])
    return [*rows, *([f"{name}, no training", "-", f"{value:.2f}", "-"] for name, value in baselines.items())]


def differences(metric: str, models: dict[str, np.ndarray]) -> list[list[str]]:
    """A row for each two of them; their p are adjusted for how many they are, by Holm's rule."""
    value = METRICS[metric].value
    found = {
        f"{b} above {a}": estimate(models[a], models[b], value)
        for a, b in combinations(models, 2)
        if models[a].shape[1:] == models[b].shape[1:]
    }
    known = {pair: one.p for pair, one in found.items() if one.p is not None}
    adjusted = dict(zip(known, holm(list(known.values())), strict=True))
    return [
        [
            pair,
            f"{one.difference:+.2f}",
            "-" if one.low is None else f"{one.low:+.2f} to {one.high:+.2f}",
            _probability(adjusted.get(pair)),
        ]
        for pair, one in found.items()
    ]


def _probability(p: float | None) -> str:
    return "-" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
