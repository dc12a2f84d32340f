"""Where settings come from: TOML files, `section.key=value`, one-word names; the later wins."""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.config.components import BackboneSettings, Component
from seqlab.config.run_settings import OPTIONS, RunSettings, merge, resolve
from seqlab.config.sections import CorpusSettings, DataSource, TrainSettings
from seqlab.errors import MissingInput, UsageError
from seqlab.registry import allow_plugin, did_you_mean

TOML_LIMIT = 1 << 20  # bytes


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a settings file."""
    try:
        if not path.exists():
            raise MissingInput(f"there is no settings file '{path}'.")
        if not path.is_file() or path.stat().st_size > TOML_LIMIT:
            raise UsageError(f"'{path}' is not a settings file: expected a TOML file of at most {TOML_LIMIT:,} bytes.")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Notepad begins with a mark
    except RecursionError:
        raise UsageError(f"'{path}' is not a settings file: its tables are nested too deeply.") from None
    except ValueError as error:  # also bytes that are not UTF-8 and numbers with thousands of digits
        raise UsageError(f"'{path}' is not a TOML file: {error}.") from None


def parse_assignment(assignment: str) -> tuple[str, Any]:
    """'train.lr=3e-4' to its key and value. Values are JSON where they can be, 'none', or plain words."""
    key, equals, value = assignment.partition("=")
    if not equals or key.count(".") != 1 or not all(key.split(".")):
        raise UsageError(f"'{assignment}' is not a setting: write section.key=value, such as train.lr=0.001.")
    if names_code(key):
        allow_plugin(value)
    if value.lower() in ("none", "null"):
        return key, None
    try:
        return key, json.loads(value.lower() if value.lower() in ("true", "false") else value)
    except json.JSONDecodeError:
        return key, value
    except (ValueError, RecursionError):  # a number with thousands of digits, deep nesting
        raise UsageError(f"the value of '{key}' cannot be read: it is too long or nested too deeply.") from None


def each_once(option: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a table; UsageError for a key that has two values, of which one would be dropped."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if table.setdefault(key, value) != value:
            raise UsageError(f"{option} gives {key} twice, as {table[key]!r} and as {value!r}: give it once.")
    return table


def names_code(key: str) -> bool:
    """Whether a setting may name a class or function of another package."""
    return key.endswith(".name") or key == "task.metric"


def source_items(source: DataSource) -> list[str]:
    """The files, folders or names of a text; UsageError for anything else."""
    items = [source] if isinstance(source, str | Path) else source
    if not isinstance(items, Sequence) or not items or not all(isinstance(item, str | Path) for item in items):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{source!r} is not a text: expected a file, a folder, a built-in name, or a list of files.")
    return [str(item) for item in items]


# one-word names of common settings, as commands and functions take them
SHORT = {
    "task": ("task.name",),
    "arch": ("backbone.name",),
    "tokenizer": ("tokenizer.name",),
    "hidden": ("backbone.hidden",),
    "layers": ("backbone.layers",),
    "embedding": ("model.embedding",),
    "dropout": ("model.embedding_dropout", "model.output_dropout"),  # and backbone.dropout where it acts
    **{name: (f"{section}.{name}",) for section, names in OPTIONS.items() for name in names},
    "encoder": ("backbone.name",),
    "decoder": ("decoder.name",),
    **{name: (f"corpus.{name}",) for name in CorpusSettings.model_fields if name != "source"},
    **{name: (f"train.{name}",) for name in TrainSettings.model_fields},
}
BUDGETS = ("train.steps", "train.epochs", "train.seconds")


def expand_short_names(short: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """One-word settings as dotted ones; UsageError names the nearest word."""
    changes: list[tuple[str, Any]] = []
    if "arch" in short and "encoder" in short:  # `arch` names both sides, `encoder` replaces one
        short = {"decoder": short["arch"], **{word: value for word, value in short.items() if word != "arch"}}
    for word, value in short.items():
        if word not in SHORT:
            raise UsageError(f"unknown setting '{word}'{did_you_mean(word, list(SHORT))}.")
        if names_code(SHORT[word][0]):
            allow_plugin(str(value))  # the caller named it
        changes += [(dotted, value) for dotted in SHORT[word]]
    return changes


def build_settings(base: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> RunSettings:
    """Settings from tables and changes to them. A budget among the changes replaces whatever budget the tables have."""
    changes = list(changes)
    if any(key in BUDGETS and value is not None for key, value in changes):
        train = {key: value for key, value in base.get("train", {}).items() if f"train.{key}" not in BUDGETS}
        base = {**base, "train": train}
    merged = merge(base, changes)
    settings = resolve(merged)
    _refuse_idle_dropout("backbone", settings.backbone)
    if settings.decoder is not None and "dropout" in merged.get("decoder", {}):  # else it is the encoder's
        _refuse_idle_dropout("decoder", settings.decoder)
    return settings


def _refuse_idle_dropout(section: str, component: Component[BackboneSettings]) -> None:
    """UsageError for a dropout rate that changes nothing. Stored settings may have one: they are not refused."""
    rate = component.settings.option("dropout", 0.0)
    if rate and not component.settings.has_dropout:
        raise UsageError(
            f"{section}.dropout={rate:g} does nothing: {component.name} applies it between layers, and "
            f"{section}.layers is 1. Use model.embedding_dropout or model.output_dropout, or more layers; or leave it "
            f"out ({section}.dropout=0)."
        )
