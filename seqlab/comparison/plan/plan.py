"""plan.json: all that is fixed before the first run, so that neither a busy machine nor a result can change it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab.comparison.plan.request import Amount, ComparisonRequest
from seqlab.comparison.results import Trial
from seqlab.config import RunSettings, resolve
from seqlab.errors import UsageError
from seqlab.storage import from_json, read_bytes, to_json, unreadable_file, write_atomic

NAME = "plan.json"
RUNS, TUNING = "runs", "tuning"


@dataclass(frozen=True)
class PlannedModel:
    """One entrant: its settings with steps and threads, and what is known of its cost beforehand."""

    name: str
    settings: dict[str, Any]
    core: int
    step_seconds: float
    evaluation_seconds: float  # of all evaluations of a run
    trial_seconds: float  # of the evaluations of a tuning trial
    tokens_per_step: int
    flops_per_token: int
    implementation: str

    @property
    def run_settings(self) -> RunSettings:
        return resolve(self.settings)

    @property
    def steps(self) -> int:
        return int(self.settings["train"]["steps"])

    @property
    def flops_per_step(self) -> int:
        """Backward takes two products for each one forward."""
        return 3 * self.flops_per_token * self.tokens_per_step

    @property
    def seconds(self) -> float:
        return self.steps * self.step_seconds

    def changed(self, **dotted: Any) -> "PlannedModel":
        return replace(self, settings=self.run_settings.with_values(**dotted).resolved())


@dataclass(frozen=True)
class Plan:
    asked: dict[str, Any]
    models: list[PlannedModel]
    size: Amount | None  # in which all were made equal
    seeds: list[int]
    threads: int  # of each run
    horizon: float  # of a trial, as a share of the steps
    trials: list[dict[str, Any]]  # what each entrant tries, by setting
    tried: list[Trial]  # filled in by tuning
    fingerprints: dict[str, str]  # of corpus and tokenizer
    notes: list[str]
    estimate: float  # seconds, with as many jobs at a time as were asked for

    def model(self, name: str) -> PlannedModel:
        return next(one for one in self.models if one.name == name)


def write_plan(plan: Plan, folder: Path) -> None:
    write_atomic(folder / NAME, to_json(asdict(plan)))


def read_plan(folder: Path) -> Plan | None:
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        return TypeAdapter(Plan).validate_python(from_json(read_bytes(path), path))
    except ValidationError as error:
        raise unreadable_file(path, error) from None


def refuse_other(plan: Plan, asked: ComparisonRequest, directory: Path) -> None:
    """UsageError where a comparison was begun with other settings, naming them."""
    found = difference(plan.asked, asked.as_dict())
    if found:
        shown = "; ".join(found[:5]) + (f"; and {len(found) - 5} more" if len(found) > 5 else "")
        raise UsageError(
            f"'{directory}' holds a comparison with other settings: {shown}. Give the command as it was to go on, or "
            f"choose another --out."
        )


def difference(was: Mapping[str, Any], wanted: Mapping[str, Any], where: str = "") -> list[str]:
    """In what two nested tables differ, in words."""
    found = []
    for key in {**was, **wanted}:
        a, b = was.get(key), wanted.get(key)
        place = f"{where}.{key}" if where else key
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += difference(a, b, place)
        elif _plain(a) != _plain(b):
            found.append(f"{place} was {_shown(a)}, not {_shown(b)}")
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) else value


def _shown(value: Any) -> str:
    return "not there" if value is None else "there" if isinstance(value, Mapping) else str(value)
