"""Scores of the baselines on the validation split, computed once for each corpus and vocabulary."""

import json
import warnings
from dataclasses import asdict
from pathlib import Path

from seqlab import __version__
from seqlab.cache import cache_directory, read_sealed, warn_of_damage, write_sealed
from seqlab.config import RunSettings
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.text.corpus import TextChanged
from seqlab.data.text.tokens import cache_key
from seqlab.errors import SeqlabError, SeqlabWarning
from seqlab.runs.results import ValidationBaseline
from seqlab.storage import validated
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.task import Task, UnitSums

# part of the key: how baselines are fitted and scored
PROTOCOL = "fitted to what models are trained on; in windows and carried"
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
    if (known := _read(cached)) is not None:
        return known
    try:
        baselines = task.score_baselines(dataset, "validation", units)
    except TextChanged as error:  # while the model was trained, which is no reason to lose the run
        warnings.warn(f"no baseline is measured: {error}", SeqlabWarning, stacklevel=2)
        return []
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
    write_sealed(cached, [asdict(result) for result in results])
    return results


def _read(cached: Path) -> list[ValidationBaseline] | None:
    """Scores from the cache; None if they are not there, or if the file is damaged, which is said."""
    if not cached.exists():
        return None
    try:
        return validated(list[ValidationBaseline], read_sealed(cached), cached)
    except SeqlabError as error:
        warn_of_damage(error)
        return None
