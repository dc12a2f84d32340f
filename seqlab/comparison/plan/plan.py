"""plan.json: everything fixed before the first run, so that neither a busy machine nor a result can change it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from seqlab.comparison.plan.request import Amount, ComparisonRequest
from seqlab.comparison.results import Trial
from seqlab.config import RunSettings, VocabSizes, resolve
from seqlab.errors import DataError, UsageError
from seqlab.runs.directory import PLAN, RUNS
from seqlab.storage import from_json, read_bytes, to_json, validated, write_atomic


@dataclass(frozen=True)
class PlannedModel:
    """One entrant: its settings with steps and threads, and its costs as measured before training."""

    name: str
    settings: dict[str, Any]
    core: int
    step_seconds: float
    evaluation_seconds: float  # of all evaluations of a run
    trial_seconds: float  # of the evaluations of a tuning trial
    tokens_per_step: int
    flops_per_token: int
    implementation: str
    step_spread: float = 0.0  # of the timed steps: half the range of the middle half, as a share
    trial_steps: list[int] = field(default_factory=list)  # of a whole run at each trial; empty: as many as the run

    @property
    def run_settings(self) -> RunSettings:
        return resolve(self.settings)

    @property
    def steps(self) -> int:
        return int(self.settings["train"]["steps"])

    @property
    def tokens(self) -> int:
        return self.steps * self.tokens_per_step

    @property
    def flops_per_step(self) -> int:
        """The backward pass takes twice the FLOPs of the forward pass."""
        return 3 * self.flops_per_token * self.tokens_per_step

    @property
    def flops(self) -> int:
        return self.steps * self.flops_per_step

    @property
    def seconds(self) -> float:
        return self.steps * self.step_seconds

    def run_path(self, seed: int) -> str:
        """The folder of a run within the comparison."""
        return f"{RUNS}/{self.name}-{seed}"

    def changed(self, **dotted: Any) -> "PlannedModel":
        return replace(self, settings=self.run_settings.with_values(**dotted).resolved())


@dataclass(frozen=True)
class Plan:
    """The frozen plan of a comparison."""

    request: dict[str, Any]
    models: list[PlannedModel]
    size: Amount | None  # that all models were matched to
    seeds: list[int]
    threads: int  # of each run
    horizon: float  # steps of a trial, as a share of the steps of a run
    trials: list[dict[str, Any]]  # the settings that every entrant tries
    trial_results: list[Trial]  # filled in by tuning
    fingerprints: dict[str, str]  # of corpus and tokenizer
    notes: list[str]
    estimate: float  # seconds for everything
    vocab_sizes: VocabSizes
    warnings: list[str] = field(default_factory=list)  # why it may not answer the question


def write_plan(plan: Plan, folder: Path) -> None:
    write_atomic(folder / PLAN, to_json(asdict(plan)))


def read_plan(folder: Path) -> Plan | None:
    path = folder / PLAN
    if not path.is_file():
        return None
    plan = validated(Plan, from_json(read_bytes(path), path), path)
    names = {model.name for model in plan.models}
    problems = {
        "it has no models": not plan.models,
        "it has no seeds": not plan.seeds,
        "it lacks the fingerprint of the text or of the tokenizer": set(plan.fingerprints) != {"corpus", "tokenizer"},
        "its models are not those that were requested": names != set(plan.request.get("models", ())),
    }
    for problem, found in problems.items():
        if found:
            raise DataError(f"'{path}' is damaged: {problem}. Restore it, or compare again with another --out.")
    return plan


def refuse_other(plan: Plan, request: ComparisonRequest, directory: Path) -> None:
    """UsageError if the comparison was started with other settings, naming them."""
    changes = difference(plan.request, request.as_dict())
    if changes:
        listed = "; ".join(changes[:5]) + (f"; and {len(changes) - 5} more" if len(changes) > 5 else "")
        raise UsageError(
            f"'{directory}' holds a comparison with other settings: {listed}. Repeat the original command to resume "
            f"it, or choose another --out."
        )


def difference(old: Mapping[str, Any], new: Mapping[str, Any], section: str = "") -> list[str]:
    """The differences between two nested tables, in words."""
    changes = []
    for key in {**old, **new}:
        a, b = old.get(key), new.get(key)
        name = f"{section}.{key}" if section else key
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            changes += difference(a, b, name)
        elif _as_stored(a) != _as_stored(b):
            changes.append(f"{name} was {_in_words(a)}, not {_in_words(b)}")
    return changes


def _as_stored(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _in_words(value: Any) -> str:
    return "missing" if value is None else "present" if isinstance(value, Mapping) else str(value)
