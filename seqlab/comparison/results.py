"""results.json: all results of a comparison. Table, figures and report are functions of it and its pictures."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab.audit.result import CheckResult
from seqlab.baselines.role import BaselineRole
from seqlab.errors import DataError, MissingInput
from seqlab.metrics.metric import Metric
from seqlab.storage import from_json, read_bytes, to_json, unreadable_file, write_atomic

NAME = "results.json"
FORMAT, VERSION = "seqlab-comparison", 3
HELD_OUT = "held-out text"  # listed among the generated texts


@dataclass(frozen=True)
class Entrant:
    """One architecture at its settings, and what it costs."""

    name: str
    arch: str
    settings: dict[str, Any]
    core_parameters: int
    embedding_parameters: int
    output_parameters: int
    position_parameters: int
    tokens_per_step: int
    flops_per_token: int  # of the forward pass, output layer included
    flops_per_step: int  # of forward and backward
    step_seconds: float  # timed before the first run, alone, at the plan's thread count
    implementation: str  # which computation it ran in
    lr: float
    state_bytes: dict[str, int] = field(default_factory=dict)  # of one text, by its length
    generation: dict[str, float] = field(default_factory=dict)  # tokens/s, by the length that stands there already

    @property
    def parameters(self) -> int:
        return self.core_parameters + self.embedding_parameters + self.output_parameters + self.position_parameters


@dataclass(frozen=True)
class MeasureResult:
    """What a measure found on a run, or a show without one; `figures` are paths within the comparison."""

    data: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    figures: list[str] = field(default_factory=list)
    failure: str | None = None  # why it could not be measured


@dataclass(frozen=True)
class RunResult:
    """One trained run, scored once on the split that decides."""

    name: str  # of the entrant
    arch: str
    seed: int
    path: str  # within the comparison
    core_parameters: int
    embedding_parameters: int
    steps: int
    tokens: int
    flops: int
    seconds: float  # steps times the planned step time
    best_step: int
    value: float  # of the metric
    metrics: dict[str, float]  # what else there is to say of it, by name
    validation: float  # of the best weights: the loss, or the error, by which they were chosen
    carried: float | None  # nats per token with the state carried through the text
    peak_memory: int | None  # resident bytes of the process that trained it
    sums: list[list[float]]  # by unit of text: the sums from which the metric is computed
    loss_by_position: list[float]
    curve: list[dict[str, float]]  # step, train_loss, validation_loss
    measures: dict[str, MeasureResult] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)  # step and text, generated during training


@dataclass(frozen=True)
class BaselineResult:
    """What needs no training, on the same text."""

    name: str
    about: str
    role: BaselineRole
    value: float
    metrics: dict[str, float]
    sums: list[list[float]] | None  # None where it cannot be said of a unit


@dataclass(frozen=True)
class Pair:
    """Two entrants; `a` is the one ahead. `difference` is by how much, never negative; low and high are its 95 %."""

    a: str
    b: str
    difference: float
    low: float | None  # None where one seed leaves the noise of seeds unknown
    high: float | None
    p: float | None
    adjusted_p: float | None  # by Holm, over all pairs
    df: float | None
    v_seeds: float | None
    v_text: float
    units: int  # of text, after merging
    seeds_needed: int | None  # of each, to show the observed difference at 80 % power; None: no number would
    verdict: str  # better, suggestive, equal for practical purposes, not distinguishable, ahead on this text
    sentence: str


@dataclass(frozen=True)
class Advice:
    """Which to choose when one thing matters most."""

    lens: str  # quality, time, size, memory
    name: str
    sentence: str


@dataclass(frozen=True)
class Best:
    name: str
    seed: int
    path: str


@dataclass(frozen=True)
class Trial:
    """One short training at other settings; its loss on validation decides."""

    name: str
    tried: dict[str, Any]  # by setting, such as train.lr
    loss: float | None  # None where it failed
    chosen: bool


@dataclass(frozen=True)
class Sample:
    name: str
    seed: int
    prompt: str
    temperature: float
    text: str


@dataclass(frozen=True)
class Memorization:
    """How much of a text stands in the training text already."""

    name: str  # an entrant, or `HELD_OUT`
    characters: int
    longest: int
    longest_text: str
    novel: float  # share of its 8-grams that the training text does not have


@dataclass(frozen=True)
class Audited:
    name: str
    checks: list[CheckResult]


@dataclass(frozen=True)
class Ledger:
    """What was the same for all, and what was not."""

    equal: dict[str, str]
    unequal: dict[str, dict[str, str]]  # by what, then by entrant


@dataclass(frozen=True)
class Results:
    corpus: dict[str, Any]  # name, about, characters, fingerprint, split
    protocol: dict[str, Any]  # scored_split, mode, window, tokenizer, vocab_size, tokens, characters
    metric: Metric
    reported_metrics: list[Metric]  # shown beside it, in the order of columns
    loss_unit: str  # such as "nats per token"
    estimand: str
    command: str
    plan: dict[str, Any]
    entrants: list[Entrant]
    runs: list[RunResult]
    baselines: list[BaselineResult]
    pairs: list[Pair]
    baseline_pairs: list[Pair]  # every entrant and the main baseline, the one ahead first
    recommendation: list[Advice]
    best: Best  # empty for a recipe without models
    trials: list[Trial]
    samples: list[Sample]
    memorization: list[Memorization]
    audits: list[Audited]
    ledger: Ledger
    warnings: list[str]
    machine: str
    versions: dict[str, str]
    date: str
    commit: str | None = None
    shows: dict[str, MeasureResult] = field(default_factory=dict)  # measures that need no run

    def entrant(self, name: str) -> Entrant:
        return next(one for one in self.entrants if one.name == name)

    def runs_of(self, name: str) -> list[RunResult]:
        return [run for run in self.runs if run.name == name]


def write_comparison(results: Results, directory: Path) -> Path:
    path = directory / NAME
    write_atomic(path, to_json({"format": FORMAT, "version": VERSION, **asdict(results)}))
    return path


def read_comparison(directory: Path) -> Results:
    """What `write_comparison` wrote."""
    path = directory / NAME
    if not path.is_file():
        raise MissingInput(f"'{directory}' is not a finished comparison: '{path}' is missing.")
    return parse_results(from_json(read_bytes(path), path), path)


def parse_results(content: dict[str, Any], path: Path) -> Results:
    """Check the content of a results file."""
    if content.pop("format", None) != FORMAT:
        raise DataError(f"'{path}' was not written by seqlab compare.")
    if content.pop("version", None) != VERSION:
        raise DataError(f"'{path}' was written by another version of seqlab: repeat the comparison.")
    try:
        return TypeAdapter(Results).validate_python(content)
    except ValidationError as error:
        raise unreadable_file(path, error) from None
