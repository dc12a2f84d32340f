"""Scores of the baselines on the validation split, computed once for each corpus and vocabulary."""

import json
import warnings
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from seqlab import __version__
from seqlab.cache import cache_directory
from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.text.tokens import cache_key
from seqlab.errors import SeqlabWarning
from seqlab.runs.results import ValidationBaseline
from seqlab.storage import write_atomic
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.task import Task, UnitSums

PROTOCOL = "in windows and carried"  # part of the key: how baselines are scored
MAX_BASELINE_TOKENS = 4_000_000  # a longer text would take minutes to count


def measure_baselines(
    settings: RunSettings, dataset: AnyDataset, task: Task, units: UnitSums
) -> list[ValidationBaseline]:
    """Scores on the given units; none if the training split is too long to count in reasonable time."""
    train = dataset.splits["train"]
    if len(train) > MAX_BASELINE_TOKENS:
        unit = "examples" if isinstance(train, ExampleSplit) else "tokens"
        warnings.warn(
            f"no baseline is measured: the training split has {len(train):,} {unit}, more than the "
            f"{MAX_BASELINE_TOKENS:,} that can be counted in reasonable time. A comparison measures them.",
            SeqlabWarning,
            stacklevel=2,
        )
        return []
    settings_json = json.dumps({**settings.resolved()["corpus"], **settings.resolved()["task"]})
    fingerprints = dataset.fingerprint, dataset.vocabulary.fingerprint
    key = cache_key(__version__, PROTOCOL, *fingerprints, settings_json, str(units.tokens_U.sum()))
    cached = cache_directory("baselines") / f"{key}.json"
    try:
        return TypeAdapter(list[ValidationBaseline]).validate_json(cached.read_bytes())
    except (OSError, ValidationError):
        pass  # not computed yet, or written by another version
    baselines = task.score_baselines(dataset, "validation", units)
    results = [
        ValidationBaseline(
            score.name,
            score.about,
            score.role,
            {name: float(value) for name, value in score.metrics.items()},
            score.carried and {name: float(value) for name, value in score.carried.items()},
        )
        for score in baselines
    ]
    write_atomic(cached, json.dumps([asdict(result) for result in results]).encode())
    return results
