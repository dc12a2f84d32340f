"""What other packages provide: entry points, and classes named as "module:Class".

A run directory never makes this process import code by itself. A "module:Class" resolves only if an installed entry
point provides it, the user named it (on the command line, or in SEQLAB_PLUGINS), or its module is imported already and
it derives from the base class of its kind: a function of any imported module must not be callable by name.
"""

import os
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from seqlab.errors import UsageError

VARIABLE = "SEQLAB_PLUGINS"


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by name; the first of two that share one."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        points.setdefault(point.name, point)
    return points


def allow_plugin(name: str) -> None:
    """Let "module:Class" be imported, in this process and in those that it starts; the user named it."""
    if is_path(name) and name not in allowed():
        os.environ[VARIABLE] = ",".join([*allowed(), name])


def allowed() -> list[str]:
    return [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]


def is_path(name: str) -> bool:
    """Whether a name says where the thing is: "module:Class"."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def may_import(name: str, group: str, has_base: bool) -> bool:
    provided = any(point.value == name for point in installed(group).values())
    return provided or name in allowed() or (has_base and name.partition(":")[0] in sys.modules)


def load_plugin(kind: str, name: str, group: str, has_base: bool) -> Any:
    """What "module:Class" names; UsageError where it may not be imported or cannot be."""
    if not may_import(name, group, has_base):
        raise UsageError(
            f"the {kind} '{name}' is code that is not part of seqlab, and nothing here allows importing it. Install a "
            f"package whose entry point in '{group}' provides it, import its module first, or, if you trust it, name "
            f"it: seqlab --plugin {name} ..., or {VARIABLE}={name}."
        )
    return resolve_target(kind, name, name, "Install it, or put its folder on PYTHONPATH.")


def resolve_target(kind: str, name: str, target: str, remedy: str = "") -> Any:
    """The object that "module:attribute" names; UsageError says which one could not be loaded, and why."""
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # whatever another package raises while it is imported
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"the {kind} '{name}' ({target}) cannot be loaded: {reason}. {remedy}".rstrip()) from error
