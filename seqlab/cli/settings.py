"""Settings from --config and --set."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def read_settings(config: Path | None, assignments: Sequence[str] | None) -> dict[str, Any]:
    """The tables of a TOML file, then `section.key=value`; the later wins."""
    from seqlab.config import parse_assignment, read_toml

    tables = read_toml(config) if config else {}
    tables.pop("about", None)  # a recipe's file has a description
    return {**tables, **dict(map(parse_assignment, assignments or []))}
