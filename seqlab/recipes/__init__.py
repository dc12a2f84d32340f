"""Recipes: TOML files that describe a model, or several models and how they are compared, found by name.

The tables of a recipe are settings of all its models; the tables of `[models.<name>]` override them. `measures` run on
every finished run, `shows` need no run. `[findings]` says what the study asks and how its results read in the docs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqlab.config import read_toml
from seqlab.errors import UsageError
from seqlab.registry import did_you_mean

FOLDER = Path(__file__).parent
Tables = dict[str, Any]


@dataclass(frozen=True)
class Writing:
    """The prompt and the temperatures at which measures sample from a model."""

    prompt: str = ""
    temperatures: tuple[float, ...] = (0.7, 1.0, 1.2)


@dataclass(frozen=True)
class Findings:
    """What a study asks, what its original claimed, and what came out; fields in braces are filled from the record."""

    question: str = ""
    answer: str = ""
    claim: str = ""
    holds: str = ""
    figure: str = "curves"  # or "pairs", or the name of a measure's picture
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """Settings tables by model name, and what to do with the trained models."""

    name: str
    about: str
    models: dict[str, Tables]
    measures: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    writing: Writing = Writing()
    comparison: Tables = field(default_factory=dict)  # seeds, budget, tune, ...
    findings: Findings = Findings()
    reference: dict[str, Any] = field(default_factory=dict)  # published numbers by model


def recipes() -> dict[str, str]:
    """Every recipe's name and what it is about."""
    return {name: find_recipe(name).about for name in _names()}


def find_recipe(name: str) -> Recipe:
    """A recipe of this package by its name, or any other by the path of its file, which ends in .toml."""
    path, known = Path(name), _names()
    if path.suffix != ".toml":
        if name not in known:
            raise UsageError(f"unknown recipe '{name}'{did_you_mean(name, known)}. Known: {', '.join(known)}.")
        path = FOLDER / f"{name}.toml"
    content = read_toml(path)
    _check(content, path)
    about, measures, shows = content.pop("about", ""), content.pop("measures", []), content.pop("shows", [])
    models, reference = content.pop("models", None), content.pop("reference", {})
    comparison, findings = content.pop("comparison", {}), content.pop("findings", {})
    if models is None:
        models = {content["backbone"].get("name", path.stem): {}} if "backbone" in content else {}
    writing = Writing(**content.pop("writing", {}))
    return Recipe(
        name=path.stem,
        about=about,
        models={model: _override(content, tables) for model, tables in models.items()},
        measures=tuple(measures),
        shows=tuple(shows),
        writing=writing,
        comparison=comparison,
        findings=Findings(**{**findings, "notes": tuple(findings.get("notes", ()))}),
        reference=reference,
    )


def _check(content: Tables, path: Path) -> None:
    """UsageError for a table that is a value, and for keys of [writing] and [findings] that nothing reads."""
    models = content.get("models", {})
    tables = {key: value for key, value in content.items() if key not in ("about", "measures", "shows")}
    if isinstance(models, Mapping):
        tables |= {f"models.{model}": table for model, table in models.items()}
        for model, table in models.items():
            tables |= {f"models.{model}.{key}": inner for key, inner in table.items()} if _is_table(table) else {}
    for key, table in tables.items():
        if not _is_table(table):
            raise UsageError(f"'{path}': '{key}' is {table!r}, and a recipe has tables there: write [{key}].")
    for key, known in {"writing": Writing, "findings": Findings}.items():
        for word in content.get(key, {}).keys() - known.__dataclass_fields__.keys():
            choices = list(known.__dataclass_fields__)
            raise UsageError(f"'{path}': unknown '{key}.{word}'{did_you_mean(word, choices)}: {', '.join(choices)}.")


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def recipe(name: str) -> Tables:
    """The settings tables of a recipe's only model, or of the one that 'recipe/model' names."""
    if ".toml" in name:
        file, _, model = name.partition(".toml")
        name, model = f"{file}.toml", model.removeprefix("/")
    else:
        name, _, model = name.partition("/")
    models = find_recipe(name).models
    choices = ", ".join(f"{name}/{known}" for known in models)
    if not model and len(models) == 1:
        return next(iter(models.values()))
    if not model:
        count = f"has {len(models)} models" if models else "has no model"
        single = f", or train one of them: {choices}" if choices else ""
        raise UsageError(f"the recipe '{name}' {count}. Run it with 'seqlab compare --recipe {name}'{single}.")
    if model not in models:
        near = did_you_mean(model, list(models))
        raise UsageError(f"the recipe '{name}' has no model '{model}'{near}. Known: {choices or 'none'}.")
    return models[model]


def _names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _override(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Tables:
    return {section: {**base.get(section, {}), **changes.get(section, {})} for section in {**base, **changes}}
