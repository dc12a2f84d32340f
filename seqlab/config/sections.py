"""The sections of a run's settings, and how a section is validated."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from seqlab.errors import UsageError
from seqlab.registry import did_you_mean

S = TypeVar("S", bound="Settings")
TYPO = 0.8  # similarity of a misspelled word
DataSource = str | Path | Sequence[str | Path]  # files, folders or a built-in corpus


class Settings(BaseModel):
    """Immutable, complete, and closed: an unknown key is an error."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    # Defaults of other sections that this component replaces, by dotted name: {"train.lr": 2e-3}. Whatever the user
    # sets wins; a setting of another component ("tokenizer.lowercase") applies only beside its "tokenizer.name".
    default_overrides: ClassVar[dict[str, Any]] = {}

    @classmethod
    def has(cls, key: str) -> bool:
        return key in cls.model_fields

    @property
    def idle(self) -> Mapping[str, str]:
        """Settings of this component that do nothing beside its others, and why."""
        return {}

    def option(self, key: str, default: Any) -> Any:
        """The value of a setting that not every component of this kind has."""
        return getattr(self, key) if self.has(key) else default


class CorpusSettings(Settings):
    source: tuple[str, ...] = Field(min_length=1, description="a built-in name, files, folders, or -")
    documents: Literal["stream", "lines"] = Field(default="stream", description="one text, or one document per line")
    layout: Literal["text", "symbols"] = Field(
        default="text", description="text as it is, or one character between spaces, with _ for a space"
    )
    split_ratios: Literal["90/10", "80/10/10", "90/5/5"] = Field(
        default="90/10", description="train/validation(/test) shares; 90/5/5 are shares of the bytes, as for enwik8"
    )
    split: Literal["contiguous", "scattered"] = Field(
        default="contiguous", description="held-out text at the end, or in stretches scattered over a running text"
    )
    validation: tuple[str, ...] = Field(default=(), description="files to validate on, instead of a share")
    test: tuple[str, ...] = Field(default=(), description="files to test on")
    columns: tuple[str, str] | None = Field(
        default=None, description="names of the columns of text and label (or source and target); inferred if unset"
    )
    text_column: str = Field(
        default="auto",
        min_length=1,
        description="column of the text in JSON lines or Parquet files of running text; auto: one with a known name",
    )
    sharded: bool | None = Field(
        default=None,
        description="encode a running text into shards, split by documents; if unset, where it is larger than 256 MB, "
        "packed by zstd, in rows or at an address",
    )
    groups: str = Field(
        default="auto",
        min_length=1,
        description="column of the author or document of an example: each stays in one split; none, or auto: only say",
    )
    split_column: str = Field(
        default="auto",
        min_length=1,
        description="column that says train, validation or test, or COLUMN=VALUE for the test rows, such as fold=9; "
        "auto: one with a known name, such as split or is_test; none",
    )
    skip_limit: float = Field(
        default=0.1, ge=0, le=1, description="share of the rows of a file, at most, that are skipped if broken or empty"
    )
    difficulty: int | None = Field(
        default=None, ge=1, le=10_000, description="of a generated corpus; the corpus has a default"
    )

    @field_validator("split_ratios", mode="before")
    @classmethod
    def _is_a_split(cls, value: Any) -> Any:
        if value not in get_args(cls.model_fields["split_ratios"].annotation):
            raise ValueError("expected 90/10, or with a test split 80/10/10 or 90/5/5")
        return value

    @field_validator("source", "validation", "test", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return (str(value),) if isinstance(value, str | Path) else value

    @model_validator(mode="after")
    def _lines_are_shuffled(self) -> Self:
        if self.documents == "lines" and self.split == "scattered":
            raise ValueError("split=scattered is for running text: lines are shuffled, so leave it out")
        if self.split_ratios == "90/5/5" and self.split == "scattered":
            raise ValueError("split_ratios=90/5/5 is contiguous: leave out split=scattered, or use 80/10/10")
        return self

    @property
    def text_has_test(self) -> bool:
        """Whether a running text has a test split: files of its own, or a share, unless validation is in files."""
        return bool(self.test) or (not self.validation and self.split_ratios != "90/10")


class ModelSettings(Settings):
    embedding: int = Field(default=128, ge=1, le=65_536, description="width of the token embedding")
    tie_embeddings: bool = Field(
        default=False,
        description="the output projection shares the embedding's weights; true for text with over 1,000 tokens",
    )
    initialization: str = Field(default="torch", description="torch, orthogonal, uniform:A or normal:S")
    embedding_dropout: float | None = Field(
        default=None, ge=0, lt=1, description="after the embedding; if unset, from the size of a text"
    )
    output_dropout: float | None = Field(default=None, ge=0, lt=1, description="before the projection; likewise")
    logit_cap: float | None = Field(
        default=None, gt=0, le=1e6, description="logits x become c tanh(x / c): none is beyond c"
    )
    precision: Literal["float32", "int8"] = Field(
        default="float32", description="of the stored weights; seqlab quantize writes int8"
    )

    @model_validator(mode="after")
    def _init_is_known(self) -> Self:
        self.init_scheme()
        return self

    def init_scheme(self) -> tuple[str, float]:
        """The name of the initialization and its scale."""
        name, _, scale = self.initialization.partition(":")
        if name in ("torch", "orthogonal") and not scale:
            return name, 1.0
        try:
            if name in ("uniform", "normal") and 0 < float(scale) < 1e3:
                return name, float(scale)
        except ValueError:
            pass
        raise ValueError(
            f"'{self.initialization}' is not an initialization: use torch, orthogonal, uniform:0.1 or normal:0.01"
        )


MOST = 10**9  # steps or seconds
MAX_THREADS = 1024


class TrainSettings(Settings):
    steps: int | None = Field(default=None, ge=1, le=MOST, description="budget in optimizer steps")
    epochs: float | None = Field(default=None, gt=0, le=MOST, description="budget in passes over the training text")
    seconds: float | None = Field(
        default=None, gt=0, le=MOST, description="budget in seconds, converted to steps at the start"
    )
    replan: bool = Field(
        default=False,
        description="with seconds, plan the steps again while they run, to end in time; resuming is then not exact",
    )
    max_epochs: float | None = Field(
        default=None, gt=0, le=MOST, description="with seconds, the most passes over the training data"
    )
    optimizer: Literal["adam", "adamw", "muon", "sgd", "rmsprop"] = Field(
        default="adam", description="the update rule; muon: of hidden matrices, adamw for the rest, at the same rates"
    )
    muon_precision: Literal["auto", "bf16", "float32"] = Field(
        default="auto", description="of muon's iteration; auto: the one that is faster on this machine, then kept"
    )
    lr: float = Field(default=5e-3, gt=0, description="the peak learning rate")
    schedule: Literal["constant", "cosine", "linear", "plateau", "decay"] = Field(
        default="cosine", description="how the learning rate changes after the warmup"
    )
    warmup: int = Field(default=100, ge=0, le=MOST, description="steps in which the learning rate rises to its peak")
    final_lr: float = Field(default=0.02, ge=0, le=1, description="the last learning rate, as a share of the peak")
    decay_after: int = Field(default=4, ge=0, le=MOST, description="epochs at the peak learning rate (schedule=decay)")
    decay: float = Field(
        default=0.5, gt=0, lt=1, description="factor of the learning rate in each later epoch (schedule=decay)"
    )
    beta2: float = Field(
        default=0.99, gt=0, lt=1, description="decay of the squared gradients (adam, adamw, rmsprop, and muon's adamw)"
    )
    momentum: float = Field(default=0.9, ge=0, lt=1, description="of sgd")
    weight_decay: float = Field(default=0.0, ge=0, description="of matrices only")
    clip_norm: float | None = Field(default=1.0, gt=0, description="largest gradient norm; 'none' switches it off")
    clip_value: float | None = Field(default=None, gt=0, description="largest gradient element")
    accumulate: int = Field(default=1, ge=1, le=4096, description="batches per optimizer step")
    evaluate_every: int | None = Field(default=None, ge=1, le=MOST, description="steps; a tenth of the run if unset")
    patience: int | None = Field(default=None, ge=1, le=MOST, description="evaluations without a best before stopping")
    average_checkpoints: int = Field(
        default=1, ge=1, le=100, description="evaluations whose weights are averaged: the last ones"
    )
    checkpoint_seconds: float = Field(default=60.0, gt=0, description="longest time between checkpoints")
    sample_tokens: int = Field(
        default=120, ge=0, le=100_000, description="tokens of sample text generated at each evaluation"
    )
    start_step: int = Field(default=0, ge=0, le=MOST, description="where the schedule of a continued run begins")
    max_skipped: int = Field(
        default=3, ge=0, le=MOST, description="consecutive updates that may be skipped because they are not finite"
    )
    precision: Literal["float32", "bf16", "auto"] = Field(
        default="float32", description="of matrix products in training; auto: bf16 where it is 1.15 times as fast"
    )
    matmul: Literal["auto", "torch", "onednn"] = Field(
        default="auto",
        description="what multiplies float32 matrices on a CPU; auto: the faster one here, then kept",
    )
    bf16_speed: float | None = Field(
        default=None, gt=0, description="of a step beside float32: measured for precision=bf16 and auto, then kept"
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="of initialization, batches and dropout")
    threads: int | None = Field(
        default=None, ge=1, le=MAX_THREADS, description="if unset, OMP_NUM_THREADS or all cores"
    )
    device: str = Field(default="cpu", description="cpu, cuda or mps; several GPUs are experimental: never run on any")
    recompute: bool = Field(
        default=False, description="compute the inside of layers again for the gradient: less memory, more time"
    )
    keep_memory: bool = Field(
        default=True, description="keep freed memory for the next step: faster on Linux, but the peak is higher"
    )
    shard: bool = Field(
        default=False, description="divide weights, gradients and moments among the processes of torchrun (FSDP2)"
    )
    offload: bool = Field(
        default=False, description="with shard on a GPU, keep them in the CPU's memory; experimental: never run on one"
    )

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if len(self.budget) > 1:
            raise ValueError(f"{' and '.join(self.budget)} contradict each other: give one budget")
        if self.replan and self.seconds is None:
            raise ValueError("replan needs a budget in seconds: give 'seconds'")
        return self

    @property
    def budget(self) -> dict[str, float]:
        """How long to train, in the unit that the user chose."""
        steps = None if self.replan else self.steps  # with replan, what was planned first
        budgets = {"steps": steps, "epochs": self.epochs, "seconds": self.seconds}
        return {name: value for name, value in budgets.items() if value is not None}


def checked(
    cls: type[S], content: Mapping[str, Any], section: str, others: Mapping[str, type[Settings]] | None = None
) -> S:
    """Build one section; UsageError explains every mistake, also a key of one of the `others`."""
    values = {key: "none" if value is None and _has_none(cls, key) else value for key, value in content.items()}
    try:
        return cls(**values)
    except ValidationError as error:
        raise UsageError("; ".join(_explain(cls, section, item, others or {}) for item in error.errors())) from None


def _has_none(cls: type[Settings], key: str) -> bool:
    """Whether 'none' is one of the choices of a setting, as in `--set task.attention=none`, or any word is."""
    field = cls.model_fields.get(key)
    return field is not None and (field.annotation is str or "none" in get_args(field.annotation))


def _meant(cls: type[Settings], key: str, others: Mapping[str, type[Settings]]) -> str:
    """What an unknown key may mean: a setting of another section, one spelled nearly so, one whose description ends so,
    or the nearest."""
    elsewhere = next((f"{section}.{key}" for section, other in others.items() if other.has(key)), None)
    words = key.lower().replace("_", " ")
    described = (name for name, field in cls.model_fields.items() if (field.description or "").endswith(words))
    typo = "" if elsewhere else did_you_mean(key, cls.model_fields, TYPO)
    meant = elsewhere or next(described, None)
    return typo or (f" (did you mean '{meant}'?)" if meant else did_you_mean(key, cls.model_fields))


def _explain(cls: type[Settings], section: str, item: Any, others: Mapping[str, type[Settings]]) -> str:
    key = str(item["loc"][0]) if item["loc"] else ""
    name = f"{section}.{key}" if key else section
    if item["type"] == "extra_forbidden":
        known = list(cls.model_fields)
        return f"unknown setting '{name}'{_meant(cls, key, others)}. Known in {section}: {', '.join(known) or 'none'}"
    if item["type"] == "missing" and len(item["loc"]) > 1:
        return f"{name}: two names are expected (given: {item['input']!r})"
    if item["type"] == "missing":
        return f"'{name}' is required"
    message = item["msg"].removeprefix("Value error, ").lower()
    if item["type"] == "tuple_type":
        parts = [part.strip() for part in str(item["input"]).split(",")]
        message = f"expected a list in brackets{f', such as {json.dumps(parts)}' if len(parts) > 1 else ''}"
    given = f" (given: {item['input']!r})" if key else ""
    return f"{name}: {message}{given}"
