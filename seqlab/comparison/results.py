"""results.json: all results of a comparison. Table, figures and report are functions of it and its pictures."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from seqlab.audit.result import CheckResult
from seqlab.baselines.role import BaselineRole
from seqlab.errors import DataError, MissingInput
from seqlab.metrics.metric import Metric
from seqlab.storage import from_json, read_bytes, to_json, validated, write_atomic

NAME = "results.json"
FORMAT, VERSION = "seqlab-comparison", 3
HELD_OUT = "held-out text"  # listed among the generated texts


@dataclass(frozen=True)
class Entrant:
    """One architecture at its settings, and its costs."""

    name: str
    arch: str
    settings: dict[str, Any]
    core_parameters: int
    embedding_parameters: int
    output_parameters: int
    position_parameters: int
    tokens_per_step: int
    flops_per_token: int  # forward pass, with the output layer
    flops_per_step: int  # forward and backward pass
    step_seconds: float  # timed before the first run, alone, with the plan's number of threads
    implementation: str  # which kernel or loop it ran in
    lr: float
    step_spread: float = 0.0  # of the timed steps: half the range of the middle half, as a share
    state_bytes: dict[str, int] = field(default_factory=dict)  # of one sequence, by context length
    generation: dict[str, float] = field(default_factory=dict)  # tokens per second, by context length
    file_bytes: int | None = None  # of the stored weights and counts

    @property
    def parameters(self) -> int:
        return self.core_parameters + self.embedding_parameters + self.output_parameters + self.position_parameters


@dataclass(frozen=True)
class MeasureResult:
    """The result of a measure on a run, or of a show; `figures` are paths within the comparison."""

    data: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    figures: list[str] = field(default_factory=list)
    failure: str | None = None  # why it could not be measured


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One trained run, scored once on the deciding split."""

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
    metrics: dict[str, float]  # all metrics by name
    validation: float  # the validation loss, or error, that selected the best weights
    carried: float | None = None  # nats per token with the state carried through the text
    peak_memory: int | None = None  # resident bytes of the training process
    sums: list[list[float]] = field(default_factory=list)  # the metric's sums for each unit of text
    loss_by_position: list[float] = field(default_factory=list)
    # step, train_loss, validation_loss, and train_cross_entropy if the training loss is another one
    curve: list[dict[str, float]] = field(default_factory=list)
    measures: dict[str, MeasureResult] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)  # step and text, generated during training


@dataclass(frozen=True)
class BaselineResult:
    """A baseline, which needs no training, on the same text."""

    name: str
    about: str
    role: BaselineRole
    value: float
    metrics: dict[str, float]
    sums: list[list[float]] | None = None  # None if the baseline has no score for each unit
    carried: float | None = None  # nats per token if it reads on through the text


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two entrants, `a` ahead of `b` by `difference`, which is never negative; low to high is its 95% interval."""

    a: str
    b: str
    difference: float
    low: float | None = None  # None with a single seed: the noise of seeds is unknown
    high: float | None = None
    p: float | None = None
    adjusted_p: float | None = None  # by Holm, over all pairs
    df: float | None = None
    v_seeds: float | None = None
    v_text: float
    units: int  # of held-out data that count as independent
    seeds_needed: int | None = None  # per entrant, for 80% power at this difference; None: no number is enough
    verdict: str  # better, suggestive, equal for practical purposes, not distinguishable, ahead on this data
    sentence: str

    def __post_init__(self) -> None:
        if self.verdict == "ahead on this text":  # its former name, in stored results
            object.__setattr__(self, "verdict", "ahead on this data")


@dataclass(frozen=True)
class Advice:
    """Which entrant to choose if one criterion matters most."""

    lens: str  # quality, time, size, memory; or counts: what mixing with them would add
    name: str
    sentence: str


@dataclass(frozen=True)
class Best:
    name: str
    seed: int
    path: str


@dataclass(frozen=True)
class Trial:
    """One short training run at other settings; the lowest validation loss wins."""

    name: str
    tried: dict[str, Any]  # by setting, such as train.lr
    loss: float | None = None  # None if it failed
    chosen: bool = False


@dataclass(frozen=True)
class Sample:
    name: str
    seed: int
    prompt: str
    temperature: float
    text: str


@dataclass(frozen=True)
class Memorization:
    """How much of a text is copied from the training text."""

    name: str  # an entrant, or `HELD_OUT`
    characters: int
    longest: int
    longest_text: str
    novel: float  # share of its 8-grams that do not occur in the training text


@dataclass(frozen=True)
class Audited:
    name: str
    checks: list[CheckResult]


@dataclass(frozen=True)
class Distances:
    """How much one run of an entrant depends on what lies further and further back, by distance from 0."""

    name: str
    seed: int
    tokens: int  # of validation text that were read
    gradients: list[float]  # norm of d loss / d input
    memory: list[float]  # bits by which the prediction changes with the token


@dataclass(frozen=True)
class Ledger:
    """What was the same for all entrants, and what was not."""

    equal: dict[str, str] = field(default_factory=dict)
    unequal: dict[str, dict[str, str]] = field(default_factory=dict)  # by aspect, then by entrant


@dataclass(frozen=True, kw_only=True)
class Results:
    """Everything about a comparison. A recipe without models leaves the defaults."""

    corpus: dict[str, Any] = field(default_factory=dict)  # name, about, characters, fingerprint, split
    protocol: dict[str, Any] = field(default_factory=dict)  # scored_split, window, tokenizer, vocab_size, tokens, ...
    metric: Metric = field(default_factory=lambda: Metric("", "", ""))
    reported_metrics: list[Metric] = field(default_factory=list)  # further columns, in their order
    loss_unit: str = ""  # such as "nats per token"
    estimand: str = ""
    command: str
    plan: dict[str, Any]
    entrants: list[Entrant] = field(default_factory=list)
    runs: list[RunResult] = field(default_factory=list)
    baselines: list[BaselineResult] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    baseline_pairs: list[Pair] = field(
        default_factory=list
    )  # every entrant and the main baseline, the better one first
    recommendation: list[Advice] = field(default_factory=list)
    best: Best = Best("", 0, "")
    trials: list[Trial] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    memorization: list[Memorization] = field(default_factory=list)
    audits: list[Audited] = field(default_factory=list)
    distances: list[Distances] = field(default_factory=list)  # of language models
    ledger: Ledger = field(default_factory=Ledger)
    warnings: list[str] = field(default_factory=list)
    machine: str
    versions: dict[str, str]
    date: str
    commit: str | None = None
    shows: dict[str, MeasureResult] = field(default_factory=dict)  # measures that need no run

    @property
    def examples(self) -> int | None:
        """How many held-out examples were scored; None for running text."""
        return self.protocol.get("examples")

    def entrant(self, name: str) -> Entrant:
        return next(entrant for entrant in self.entrants if entrant.name == name)

    def runs_of(self, name: str) -> list[RunResult]:
        return [run for run in self.runs if run.name == name]


def write_comparison(results: Results, directory: Path) -> None:
    write_atomic(directory / NAME, to_json({"format": FORMAT, "version": VERSION, **asdict(results)}))


def read_comparison(directory: Path) -> Results:
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
    return validated(Results, content, path)
