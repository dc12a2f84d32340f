"""Recipes: TOML files that name a whole run, found by name."""

from pathlib import Path
from typing import Any

from seqlab.config import read_toml
from seqlab.errors import UsageError
from seqlab.registry import did_you_mean

FOLDER = Path(__file__).parent


def recipes() -> dict[str, str]:
    """Every recipe's name and what it is about."""
    return {path.stem: str(read_toml(path).get("about", "")) for path in sorted(FOLDER.glob("*.toml"))}


def recipe(name: str) -> dict[str, Any]:
    """The settings tables of a recipe."""
    path = FOLDER / f"{name}.toml"
    known = [path.stem for path in sorted(FOLDER.glob("*.toml"))]
    if name not in known:
        raise UsageError(f"unknown recipe '{name}'{did_you_mean(name, known)}. Known: {', '.join(known)}.")
    return {section: content for section, content in read_toml(path).items() if section != "about"}
