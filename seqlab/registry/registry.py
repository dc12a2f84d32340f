"""A registry: name -> where its class lives, and one line about it.

Targets are "module:Class" strings, so listing, completion and `--help` import nothing heavy.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any

from seqlab.errors import UsageError
from seqlab.registry.plugins import installed, is_path, load_plugin, may_import, resolve_target


@dataclass(frozen=True)
class Entry:
    """One registered name. An entry point of another package names the class or function, or an Entry."""

    target: str
    about: str
    settings: str | None = None  # the pydantic model of its options; it must import without torch
    default_overrides: Mapping[str, Any] = field(default_factory=dict)  # as in `Settings.default_overrides`
    alias: str | None = None  # another name for it
    compared: bool = False  # whether `seqlab compare` takes it where no architectures are named


class Registry:
    """The names of one kind of thing: those of this package, then those of other packages' entry points."""

    def __init__(
        self,
        kind: str,
        plural: str,
        entries: dict[str, Entry],
        base: str | None = None,
        settings: str = "seqlab.config:Settings",
        group: str | None = None,
    ):
        self.kind = kind
        self.plural = plural
        self.group = group or f"seqlab.{plural}"  # of entry points
        self._entries = entries
        self._base = base  # the class that another package's class derives from; None for functions
        self._settings = settings  # for a class that has no settings of its own

    def __iter__(self) -> Iterator[str]:
        yield from self._entries
        yield from (name for name in installed(self.group) if name not in self._entries)

    def __contains__(self, name: object) -> bool:
        if name in self._entries or name in installed(self.group):
            return True
        return isinstance(name, str) and is_path(name) and may_import(name, self.group, self._base is not None)

    def builtin(self) -> list[str]:
        """The names that this package registers itself."""
        return list(self._entries)

    def compared(self) -> tuple[str, ...]:
        return tuple(name for name, entry in self._entries.items() if entry.compared)

    def canonical(self, name: str) -> str:
        """The registered name, where an alias or the path of a registered class may be given."""
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # settings come from everywhere
            raise UsageError(f"{name!r} is not a name: expected one of {', '.join(self._entries)}.")
        for known, entry in self._entries.items():
            if entry.alias == name:
                return known
        for known, point in installed(self.group).items() if is_path(name) else ():
            if point.value == name and known not in self._entries:
                return known
        return name

    def default_overrides(self, name: str) -> dict[str, Any]:
        entry = self._entry(name)
        return dict(entry.default_overrides) if entry else {}

    def about(self, name: str) -> str:
        """One line about it. For another package's class this is the package, since more would require an import."""
        entry = self._entries.get(name)
        if entry is not None:
            return entry.about
        point = installed(self.group).get(name)
        return f"from {_package(point)}" if point else f"from {name.partition(':')[0]}"

    def load(self, name: str) -> Any:
        """Import and return the class registered under `name`."""
        entry = self._entry(name)
        return resolve_target(self.kind, name, entry.target) if entry else self._external(name)

    def settings(self, name: str) -> Any:
        """The class of its settings. This imports torch only for a class of another package."""
        entry = self._entry(name)
        if entry is None:
            settings = getattr(self._external(name), "Settings", None)
            return settings or resolve_target(self.kind, name, self._settings)
        return resolve_target(self.kind, name, entry.settings or self._settings)

    def _entry(self, name: str) -> Entry | None:
        """The line of a name; None for another package's class. UsageError where the name is unknown."""
        if name in self._entries:
            return self._entries[name]
        if name in installed(self.group) or is_path(name):
            external = self._external(name)
            return external if isinstance(external, Entry) else None
        raise UsageError(f"unknown {self.kind} '{name}'{did_you_mean(name, self)}. Known: {', '.join(self)}.")

    def _external(self, name: str) -> Any:
        """What another package provides under this name."""
        point = installed(self.group).get(name)
        if point is None:
            external = load_plugin(self.kind, name, self.group, self._base is not None)
        else:
            remedy = f"It belongs to the package {_package(point)}: repair, update or uninstall that."
            external = resolve_target(self.kind, name, point.value, remedy)
        if self._base is not None and not isinstance(external, Entry):
            base = resolve_target(self.kind, name, self._base)
            if not (isinstance(external, type) and issubclass(external, base)):
                base_name = self._base.replace(":", ".")
                raise UsageError(
                    f"the {self.kind} '{name}' cannot be used: expected a class that derives from {base_name}."
                )
        return external


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.module


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """The tail of an error message: the nearest valid spelling, if one is near."""
    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=cutoff)
    return f" (did you mean '{near[0]}'?)" if near else ""
