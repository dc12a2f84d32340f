"""What stays of a finished run in a repository: one JSON file with its settings, results, curves and measurements."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from seqlab.errors import DataError
from seqlab.runs.log import read_log
from seqlab.runs.machine import machine
from seqlab.storage import write_atomic

if TYPE_CHECKING:
    from seqlab.runs.run import Run

ROWS = re.compile(r"\[\n\s*(?:-?\d[\d.eE+-]*,?\n\s*)+\]")  # of numbers, which are put on one line
SAMPLES = 4  # texts written during training that are kept, evenly spread, the last among them


@dataclass(frozen=True)
class Record:
    """`measures` are by name: `data` to compute with, `text` to read, `figures` to look at (files beside this one)."""

    recipe: str
    model: str
    seed: int
    arch: str | None
    date: str
    machine: str
    versions: dict[str, str]
    settings: dict[str, Any]
    parameters: dict[str, int]
    corpus: dict[str, Any]
    results: dict[str, Any]
    evaluations: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    measures: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.recipe}-{self.model}-{self.seed}"


def record_of(recipe: str, model: str, run: "Run", measures: dict[str, dict[str, Any]]) -> Record:
    assert run.results is not None, "only a finished run is recorded"
    evaluations = [line for line in read_log(run.directory.metrics) if "validation_loss" in line]
    results = {**asdict(run.results), "headline": run.results.headline_metric.key}
    for baseline in results["baselines"]:
        baseline.pop("about")
    return Record(
        recipe=recipe,
        model=model,
        seed=run.settings.train.seed,
        arch=run.settings.backbone.name,
        date=run.results.date,
        machine=machine(),
        versions=run.config["versions"],
        settings=run.settings.resolved(),
        parameters=run.config["parameters"],
        corpus={key: run.config["corpus"][key] for key in ("name", "characters", "fingerprint")},
        results=results,
        evaluations=[{key: value for key, value in line.items() if key != "sample"} for line in evaluations],
        samples=spread([{"step": line["step"], "text": line["sample"]} for line in evaluations if line.get("sample")]),
        measures=measures,
    )


def spread(items: Sequence[Any], most: int = SAMPLES) -> list[Any]:
    """A few of them, evenly spread, the last among them."""
    every = -(-len(items) // most) or 1
    return list(items[::-1][::every][::-1])


def write_record(record: Record, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.name}.json"
    whole = json.dumps(asdict(record), indent=1, ensure_ascii=False)
    write_atomic(path, (ROWS.sub(lambda row: " ".join(row[0].split()), whole) + "\n").encode())
    return path


def read_records(folder: Path) -> list[Record]:
    """All records of a folder, by name."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(TypeAdapter(Record).validate_json(path.read_bytes()))
        except ValidationError as error:
            raise DataError(f"'{path}' is not a record of a run: {error.errors()[0]['msg']}.") from None
    return found
