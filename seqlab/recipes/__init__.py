"""Recipes: TOML files that name a whole run, or several that belong together, found by name.

The tables of a recipe are settings of all its models; a model's own tables, `[models.<name>]`, come on top. What is
measured on each finished run stands in `measures`, what is shown without any model in `shows`.
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
    """What the models of a recipe are asked to go on from, and how boldly."""

    prompt: str = ""
    temperatures: tuple[float, ...] = (0.7, 1.0, 1.2)


@dataclass(frozen=True)
class Recipe:
    """Its models are settings tables by name."""

    name: str
    about: str
    models: dict[str, Tables]
    measures: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    writing: Writing = Writing()
    reference: dict[str, Any] = field(default_factory=dict)  # published figures by model, to stand beside ours
    comparison: Tables = field(default_factory=dict)  # how its models are compared: seeds, budget, tune, ...
    notes: tuple[str, ...] = ()  # what the results say; fields in braces are filled from the records


def recipes() -> dict[str, str]:
    """Every recipe's name and what it is about."""
    return {name: find_recipe(name).about for name in _names()}


def find_recipe(name: str) -> Recipe:
    """A recipe by its name."""
    known = _names()
    if name not in known:
        raise UsageError(f"unknown recipe '{name}'{did_you_mean(name, known)}. Known: {', '.join(known)}.")
    content = read_toml(FOLDER / f"{name}.toml")
    about, measures, shows = content.pop("about"), content.pop("measures", []), content.pop("shows", [])
    own, reference, notes = content.pop("models", None), content.pop("reference", {}), content.pop("notes", [])
    comparison = content.pop("comparison", {})
    if own is None:
        own = {content["backbone"]["name"]: {}} if "backbone" in content else {}
    writing = Writing(**content.pop("writing", {}))
    models = {model: _on_top(content, tables) for model, tables in own.items()}
    return Recipe(name, about, models, tuple(measures), tuple(shows), writing, reference, comparison, tuple(notes))


def is_study(name: str) -> bool:
    """Whether a recipe is more than one run to be trained: several models, or something to be measured."""
    if "/" in name:
        return False
    found = find_recipe(name)
    return len(found.models) != 1 or bool(found.measures or found.shows)


def recipe(name: str) -> Tables:
    """The settings tables of a recipe's only model, or of the one that 'recipe/model' names."""
    name, _, model = name.partition("/")
    found = find_recipe(name)
    if not model and len(found.models) == 1:
        return next(iter(found.models.values()))
    if not model:
        choices = ", ".join(f"{name}/{one}" for one in found.models)
        count = f"has {len(found.models)} models" if found.models else "has no model"
        single = f", or train one of them: {choices}" if choices else ""
        raise UsageError(f"the recipe '{name}' {count}. Run it with 'seqlab compare --recipe {name}'{single}.")
    if model not in found.models:
        choices = ", ".join(f"{name}/{one}" for one in found.models) or "none"
        near = did_you_mean(model, list(found.models))
        raise UsageError(f"the recipe '{name}' has no model '{model}'{near}. Known: {choices}.")
    return found.models[model]


def _names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _on_top(base: Mapping[str, Any], own: Mapping[str, Any]) -> Tables:
    return {section: {**base.get(section, {}), **own.get(section, {})} for section in {**base, **own}}
