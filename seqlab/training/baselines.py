"""Scores of the baselines on the validation split, computed once for each corpus and vocabulary."""

import json
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab import __version__
from seqlab.cache import cache_directory
from seqlab.config import RunSettings
from seqlab.data.text.tokens import cache_key
from seqlab.runs.results import ValidationBaseline
from seqlab.storage import write_atomic
from seqlab.tasks.dataset import Dataset
from seqlab.tasks.task import Task, UnitSums

MAX_BASELINE_TOKENS = 4_000_000  # a longer text would take minutes to count


def measure_baselines(settings: RunSettings, dataset: Dataset, task: Task, units: UnitSums) -> list[ValidationBaseline]:
    """Scores on the given units; none if the training split is too long to count in reasonable time."""
    train: Any = dataset.splits["train"]
    if len(train) > MAX_BASELINE_TOKENS:
        return []
    decides = {**settings.resolved()["corpus"], **settings.resolved()["task"]}
    words = [
        __version__,
        dataset.fingerprint,
        dataset.vocabulary.fingerprint,
        json.dumps(decides),
        str(units.tokens_U.sum()),
    ]
    cached = cache_directory("baselines") / f"{cache_key(*words)}.json"
    try:
        return TypeAdapter(list[ValidationBaseline]).validate_json(cached.read_bytes())
    except (OSError, ValidationError):
        pass  # not computed yet, or written by another version
    baselines = task.score_baselines(dataset, "validation", units)
    results = [
        ValidationBaseline(score.name, score.about, score.role, {n: float(value) for n, value in score.metrics.items()})
        for score in baselines
    ]
    write_atomic(cached, json.dumps([asdict(result) for result in results]).encode())
    return results
