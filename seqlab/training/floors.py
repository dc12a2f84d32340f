"""What needs no training reaches on the validation part. Measured once for each corpus and vocabulary."""

import json
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab import __version__
from seqlab.cache import cache_directory
from seqlab.config import RunSettings
from seqlab.data.tokens import cache_key
from seqlab.runs.results import FloorResult
from seqlab.runs.storage import write_whole
from seqlab.tasks.material import Material
from seqlab.tasks.task import Task, Units

FLOOR_TOKENS = 4_000_000  # a longer text would take minutes to count


def measure_floors(settings: RunSettings, material: Material, task: Task, units: Units) -> list[FloorResult]:
    """On the given units; none where the training part is too long to count in reasonable time."""
    train: Any = material.parts["train"]
    if len(train) > FLOOR_TOKENS:
        return []
    decides = {**settings.resolved()["corpus"], **settings.resolved()["task"]}
    words = [__version__, material.fingerprint, material.lexicon.fingerprint, json.dumps(decides), str(units[1].sum())]
    kept = cache_directory("floors") / f"{cache_key(*words)}.json"
    try:
        return TypeAdapter(list[FloorResult]).validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        pass  # not measured yet, or written by another hand
    floors = task.floors_on(material, "validation", units)
    found = [
        FloorResult(one.name, one.about, {name: float(value) for name, value in one.figures.items()}) for one in floors
    ]
    write_whole(kept, json.dumps([asdict(one) for one in found]).encode())
    return found
