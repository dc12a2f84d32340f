"""Every setting with its default and its meaning, for `seqlab list settings`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from seqlab.config.run_settings import PLAIN
from seqlab.registry import BACKBONES, TASKS, TOKENIZERS

COMPONENTS = {"backbone": BACKBONES, "task": TASKS, "tokenizer": TOKENIZERS}


@dataclass(frozen=True)
class KnownSetting:
    """A setting; `components` are the names that have it, if not all of its section do."""

    name: str
    default: str
    meaning: str
    components: tuple[str, ...] = ()


def known_settings() -> list[KnownSetting]:
    """All settings by section. Architectures, tasks and corpora may replace a default: config.json has every value."""
    plain = [
        _describe(section, key, field) for section, cls in PLAIN.items() for key, field in cls.model_fields.items()
    ]
    return [*plain, *_of_components()]


def _of_components() -> Iterator[KnownSetting]:
    """The settings of registered classes; those that several of them share are listed once."""
    for section, registry in COMPONENTS.items():
        names = list(registry)
        yield KnownSetting(f"{section}.name", "", f"which {registry.kind}: {', '.join(names)}")
        owners: dict[KnownSetting, list[str]] = {}
        for name in names:
            for key, field in registry.settings(name).model_fields.items():
                owners.setdefault(_describe(section, key, field), []).append(name)
        for setting, having in sorted(owners.items(), key=lambda item: item[0].name):
            only = () if having == names else tuple(having)
            yield KnownSetting(setting.name, setting.default, setting.meaning, only)


def _describe(section: str, key: str, field: FieldInfo) -> KnownSetting:
    choices = [str(choice) for choice in _choices(field.annotation)]
    meaning = field.description or ""
    if choices and not all(choice in meaning for choice in choices):
        meaning = "; ".join(filter(None, [meaning, " | ".join(choices)]))
    default = "" if field.is_required() else _value(field.default)
    return KnownSetting(f"{section}.{key}", default, meaning)


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _value(value: Any) -> str:
    """As it is written after `--set section.key=`."""
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(list(value)) if isinstance(value, tuple) else str(value)
