"""The frame of all settings: sections, TOML files, `section.key=value`, and one resolved form.

A default is written once, here or in the Settings that stand beside a registered class. Sections that choose
between registered classes have a `name`; their other keys are those of the chosen one. Importing this never
imports torch, so that wrong settings are refused at once.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationError, model_validator

from seqlab.errors import MissingInput, UsageError
from seqlab.registry import BACKBONES, TASKS, TOKENIZERS, Registry, did_you_mean

S = TypeVar("S", bound="Settings")


class Settings(BaseModel):
    """Immutable, complete, and closed: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    usual: ClassVar[dict[str, Any]] = {}  # settings of training that suit an architecture better than the common ones


class NoSettings(Settings):
    """Of things that have nothing to set."""


class CorpusSettings(Settings):
    source: tuple[str, ...] = Field(min_length=1, description="a built-in name, files, folders, or -")
    documents: Literal["stream", "lines"] = Field(default="stream", description="one stream, or every line by itself")
    split: Literal["90/10", "80/10/10", "whole"] = Field(default="90/10", description="train/validation(/test) shares")


class ModelSettings(Settings):
    embedding: int = Field(default=128, ge=1, le=65_536, description="width of the token embedding")
    tied: bool = Field(default=False, description="the output projection is the embedding, transposed")
    init: str = Field(default="torch", description="torch, orthogonal, uniform:A or normal:S")
    embedding_dropout: float = Field(default=0.0, ge=0, lt=1)
    output_dropout: float = Field(default=0.0, ge=0, lt=1, description="before the projection")

    @model_validator(mode="after")
    def _init_is_known(self) -> Self:
        self.init_scheme()
        return self

    def init_scheme(self) -> tuple[str, float]:
        """The name of the initialisation and its scale."""
        name, _, scale = self.init.partition(":")
        if name in ("torch", "orthogonal") and not scale:
            return name, 1.0
        try:
            if name in ("uniform", "normal") and 0 < float(scale) < 1e3:
                return name, float(scale)
        except ValueError:
            pass
        raise ValueError(f"'{self.init}' is not an initialisation: use torch, orthogonal, uniform:0.1 or normal:0.01")


MOST = 10**9  # of anything that is counted in steps or seconds


class TrainSettings(Settings):
    steps: int | None = Field(default=None, ge=1, le=MOST, description="budget in optimiser steps")
    epochs: float | None = Field(default=None, gt=0, le=MOST, description="budget in passes over the training text")
    seconds: float | None = Field(default=None, gt=0, le=MOST, description="budget in seconds, made steps at first")
    optimiser: Literal["adam", "adamw", "sgd", "rmsprop"] = "adam"
    lr: float = Field(default=5e-3, gt=0, description="the peak learning rate")
    schedule: Literal["constant", "cosine", "linear", "plateau"] = "cosine"
    warmup: int = Field(default=100, ge=0, le=MOST, description="steps in which the learning rate rises to its peak")
    final: float = Field(default=0.02, ge=0, le=1, description="the last learning rate, as a share of the peak")
    beta2: float = Field(default=0.99, gt=0, lt=1, description="decay of the squared gradients (adam, adamw, rmsprop)")
    momentum: float = Field(default=0.9, ge=0, lt=1, description="of sgd")
    weight_decay: float = Field(default=0.0, ge=0, description="of matrices only")
    clip_norm: float | None = Field(default=1.0, gt=0, description="largest gradient norm; 'none' switches it off")
    clip_value: float | None = Field(default=None, gt=0, description="largest gradient element")
    accumulate: int = Field(default=1, ge=1, le=4096, description="batches per optimiser step")
    evaluate_every: int | None = Field(default=None, ge=1, le=MOST, description="steps; a tenth of the run if unset")
    patience: int | None = Field(default=None, ge=1, le=MOST, description="evaluations without a best before stopping")
    save_seconds: float = Field(default=60.0, gt=0, description="longest time between checkpoints")
    sample: int = Field(default=120, ge=0, le=100_000, description="tokens of text written at each evaluation")
    from_step: int = Field(default=0, ge=0, le=MOST, description="where the schedule begins, of a run trained further")
    retries: int = Field(default=3, ge=0, le=MOST, description="updates in a row that may fail to be finite")
    seed: int = Field(default=0, ge=0, lt=2**63)
    threads: int | None = Field(default=None, ge=1, le=1024, description="all cores if unset")
    device: str = Field(default="cpu", description="cpu, cuda or mps")

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if len(self.budget) > 1:
            raise ValueError(f"{' and '.join(self.budget)} contradict each other: give one budget")
        return self

    @property
    def budget(self) -> dict[str, float]:
        """How long to train, in the unit that was given."""
        given = {"steps": self.steps, "epochs": self.epochs, "seconds": self.seconds}
        return {name: value for name, value in given.items() if value is not None}


class Chosen(Settings):
    """A registered name and the settings of what it names, read and written as one flat table."""

    name: str
    settings: SerializeAsAny[Settings]

    def flat(self) -> dict[str, Any]:
        return {"name": self.name, **self.settings.model_dump(mode="json")}


class RunSettings(Settings):
    """Everything that decides what a run computes."""

    corpus: CorpusSettings
    tokenizer: Chosen
    backbone: Chosen
    model: ModelSettings = ModelSettings()
    task: Chosen
    train: TrainSettings = TrainSettings()

    def resolved(self) -> dict[str, Any]:
        """Every setting with its value, as JSON-ready tables."""
        return {
            name: section.flat() if isinstance(section, Chosen) else section.model_dump(mode="json")
            for name, section in self
        }

    def with_values(self, **dotted: Any) -> "RunSettings":
        """A copy with some settings changed: `with_values(**{"train.steps": 10})`."""
        return resolve(merge(self.resolved(), [(key, value) for key, value in dotted.items()]))


DEFAULT_NAMES: dict[str, tuple[Registry, str]] = {
    "tokenizer": (TOKENIZERS, "char"),
    "task": (TASKS, "language"),
    "backbone": (BACKBONES, "lstm"),
}


def resolve(tables: Mapping[str, Any]) -> RunSettings:
    """Nested tables to checked settings; UsageError names the key and its nearest valid spelling."""
    ready: dict[str, Any] = {}
    for section, content in tables.items():
        if section not in RunSettings.model_fields:
            known = list(RunSettings.model_fields)
            raise UsageError(f"unknown section '{section}'{did_you_mean(section, known)}. Known: {', '.join(known)}.")
        if not isinstance(content, Mapping):
            raise UsageError(
                f"'{section}' is a section, not a value: write '{section}.<key>=...' or a [{section}] table."
            )
        ready[section] = dict(content)
    for section, (registry, default) in DEFAULT_NAMES.items():
        content = ready.get(section, {})
        name = content.pop("name", default)
        cls = registry.settings(name)
        if section == "backbone":
            _adapt(cls, content, ready)
        ready[section] = Chosen(name=name, settings=checked(cls, content, section))
    for section in ("corpus", "model", "train"):
        ready[section] = checked(_section_class(section), ready.get(section, {}), section)
    return RunSettings(**ready)


def _adapt(cls: type[Settings], content: dict[str, Any], ready: dict[str, Any]) -> None:
    """What is not set follows from what is: a context from the window, training from what suits the architecture."""
    if "context" in cls.model_fields:
        content.setdefault("context", ready["task"].settings.window)
    ready["train"] = {**cls.usual, **ready.get("train", {})}


def _section_class(section: str) -> type[Settings]:
    return {"corpus": CorpusSettings, "model": ModelSettings, "train": TrainSettings}[section]


def checked(cls: type[S], content: Mapping[str, Any], section: str) -> S:
    """Build one section, with errors written for the person who set it."""
    try:
        return cls(**content)
    except ValidationError as error:
        raise UsageError("; ".join(_explain(cls, section, item) for item in error.errors())) from None


def _explain(cls: type[Settings], section: str, item: Any) -> str:
    key = str(item["loc"][0]) if item["loc"] else ""
    name = f"{section}.{key}" if key else section
    if item["type"] == "extra_forbidden":
        known = list(cls.model_fields)
        return f"unknown setting '{name}'{did_you_mean(key, known)}. Known in {section}: {', '.join(known) or 'none'}"
    if item["type"] == "missing":
        return f"'{name}' is needed and was not given"
    message = item["msg"].removeprefix("Value error, ").lower()
    given = f" (given: {item['input']!r})" if key else ""
    return f"{name}: {message}{given}"


# --- where settings come from ---------------------------------------------------------------------------------------


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a settings file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingInput(f"there is no settings file '{path}'.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"'{path}' is not a TOML file: {error}.") from None


def parse_assignment(assignment: str) -> tuple[str, Any]:
    """'train.lr=3e-4' to its key and value. Values are JSON where they can be, 'none', or plain words."""
    key, equals, value = assignment.partition("=")
    if not equals or key.count(".") != 1 or not all(key.split(".")):
        raise UsageError(f"'{assignment}' is not a setting: write section.key=value, such as train.lr=0.001.")
    if value.lower() in ("none", "null"):
        return key, None
    try:
        return key, json.loads(value.lower() if value.lower() in ("true", "false") else value)
    except json.JSONDecodeError:
        return key, value


def merge(tables: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Tables with dotted settings put in; a later one wins. Choosing another `name` drops the old one's settings."""
    merged = {
        section: dict(content) if isinstance(content, Mapping) else content for section, content in tables.items()
    }
    for dotted, value in sorted(changes, key=lambda change: not change[0].endswith(".name")):
        section, key = dotted.split(".")
        content = merged.setdefault(section, {})
        if key == "name" and content.get("name", value) != value:
            content = merged[section] = {}
        content[key] = value
    return merged


# the usual settings by one word, as commands and functions take them
SHORT = {
    "task": ("task.name",),
    "arch": ("backbone.name",),
    "tokenizer": ("tokenizer.name",),
    "vocabulary": ("tokenizer.size",),
    "hidden": ("backbone.hidden",),
    "layers": ("backbone.layers",),
    "embedding": ("model.embedding",),
    "dropout": ("backbone.dropout", "model.embedding_dropout", "model.output_dropout"),
    "documents": ("corpus.documents",),
    "split": ("corpus.split",),
    "batching": ("task.batching",),
    "batch": ("task.batch",),
    "window": ("task.window",),
    **{name: (f"train.{name}",) for name in TrainSettings.model_fields},
}
BUDGETS = ("train.steps", "train.epochs", "train.seconds")


def spelt_out(short: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """One-word settings as dotted ones; UsageError names the nearest word."""
    changes: list[tuple[str, Any]] = []
    for word, value in short.items():
        if word not in SHORT:
            raise UsageError(f"unknown setting '{word}'{did_you_mean(word, list(SHORT))}.")
        changes += [(dotted, value) for dotted in SHORT[word]]
    return changes


def gather(base: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> RunSettings:
    """Settings from tables and changes to them. A budget among the changes replaces whatever budget the tables have."""
    changes = list(changes)
    if any(key in BUDGETS and value is not None for key, value in changes):
        train = {key: value for key, value in base.get("train", {}).items() if f"train.{key}" not in BUDGETS}
        base = {**base, "train": train}
    return resolve(merge(base, changes))
