"""What other packages provide: entry points, and classes named as "module:Class".

A run directory never makes this process import code by itself. A "module:Class" resolves only if an installed entry
point provides it, the user named it (on the command line, or in SEQLAB_PLUGINS), or its module is imported already and
it derives from the base class of its kind: a function of any imported module must not be callable by name.
"""

import difflib
import os
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from seqlab.errors import UsageError

VARIABLE = "SEQLAB_PLUGINS"


class PluginNotAllowed(UsageError):
    """A "module:Class" that may not be imported: `name` says which."""

    def __init__(self, kind: str, name: str, group: str):
        super().__init__(
            f"the {kind} '{name}' is code that is not part of seqlab, and nothing here allows importing it. Install a "
            f"package whose entry point in '{group}' provides it, import its module first, or, if you trust it, name "
            f"it: seqlab --plugin {name} ..., or {VARIABLE}={name}."
        )
        self.name = name


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


def with_plugins(command: str) -> str:
    """A command of seqlab to type next, with the plugins that this one was allowed to import."""
    options = "".join(f" --plugin {name}" for name in allowed())
    return f"seqlab{options} {command.removeprefix('seqlab ')}" if command.startswith("seqlab ") else command


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
        raise PluginNotAllowed(kind, name, group)
    return resolve_target(kind, name, name, if_not_found="Install it, or put its folder on PYTHONPATH.")


def resolve_target(kind: str, name: str, target: str, remedy: str = "", if_not_found: str = "") -> Any:
    """The object that "module:attribute" names; UsageError says which one could not be loaded, why, and what to do."""
    module, _, attribute = target.partition(":")
    lead = f"the {kind} '{name}' ({target}) cannot be loaded"
    try:
        imported = import_module(module)
    except Exception as error:  # whatever another package raises while it is imported
        what = (if_not_found if isinstance(error, ModuleNotFoundError) else "") or remedy
        raise UsageError(f"{lead}: {type(error).__name__}: {error}. {what}".rstrip()) from error
    if not hasattr(imported, attribute):
        near = difflib.get_close_matches(attribute, vars(imported), n=1, cutoff=0.5)
        hint = f" Did you mean '{module}:{near[0]}'?" if near else ""
        raise UsageError(f"{lead}: module '{module}' has no attribute '{attribute}'.{hint} {remedy}".rstrip())
    return getattr(imported, attribute)
