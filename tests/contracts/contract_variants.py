"""Every registered architecture in small, with every pair of its options, found in its settings' own fields.

No test in this folder names an architecture: registering one is enough to have it tested.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal, get_args, get_origin

import pytest
import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor

from seqlab.contracts import Backbone, State
from seqlab.registry import BACKBONES

INPUTS = 5
SIZES = {"hidden": 8, "layers": 2}


@dataclass(frozen=True, eq=False)
class Variant:
    name: str
    settings: BaseModel
    changes: dict[str, Any]

    def __str__(self) -> str:
        return "-".join([self.name, *(f"{key}={value}" for key, value in self.changes.items())])

    def build(self, seed: int = 0, inputs: int = INPUTS, **changes: Any) -> Backbone:
        """A module in evaluation mode, its weights drawn from the seed."""
        torch.default_generator.manual_seed(seed)  # a hundred times faster than torch.manual_seed
        return BACKBONES.load(self.name)(self.having(**changes), inputs).eval()

    def having(self, **changes: Any) -> Any:
        """Its settings, with those of the changes that this architecture knows."""
        known = {key: value for key, value in changes.items() if key in type(self.settings).model_fields}
        return type(self.settings)(**self.settings.model_dump() | known)

    @property
    def has_dropout(self) -> bool:
        """Whether there is a place for it: it may stand between layers only."""
        return "dropout" in type(self.settings).model_fields and self.changes.get("layers") != 1


def alternatives(base: BaseModel) -> dict[str, list[Any]]:
    """The other values of each option: one layer, the opposite of a bool, the remaining choices of a Literal."""
    found: dict[str, list[Any]] = {}
    for key, field in type(base).model_fields.items():
        kinds = [field.annotation, *get_args(field.annotation)]
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if key == "layers":
            found[key] = [1]
        elif field.annotation is bool:
            found[key] = [not getattr(base, key)]
        elif choices:
            found[key] = [choice for choice in choices if choice != getattr(base, key)]
    return found


def inherited_options(settings_class: type[BaseModel]) -> set[str]:
    """Options that the settings have from another registered architecture's."""
    registered = {BACKBONES.settings(name) for name in BACKBONES} - {settings_class}
    return {key for cls in registered if issubclass(settings_class, cls) for key in cls.model_fields}


def variants(name: str, at_once: int) -> Iterator[Variant]:
    """The architecture as it comes, and with up to `at_once` options changed, where its settings allow it."""
    settings_class = BACKBONES.settings(name)
    base = settings_class(**{key: value for key, value in SIZES.items() if key in settings_class.model_fields})
    others = alternatives(base)
    inherited = inherited_options(settings_class)
    for count in range(at_once + 1):
        for keys in combinations(others, count):
            if count > 1 and inherited.issuperset(keys):
                continue  # tested together where they come from
            for values in product(*(others[key] for key in keys)):
                changes = dict(zip(keys, values, strict=True))
                try:
                    yield Variant(name, settings_class(**base.model_dump() | changes), changes)
                except ValidationError:
                    continue  # options that contradict each other


VARIANTS = [variant for name in BACKBONES for variant in variants(name, at_once=2)]
CAUSAL = [variant for variant in VARIANTS if variant.build().causal]
READING_AHEAD = [variant for variant in VARIANTS if not variant.build().causal]
CARRYING = [variant for variant in VARIANTS if variant.build().carries]
SIMPLE_CAUSAL = [variant for variant in CAUSAL if len(variant.changes) <= 1]

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)
every_causal = pytest.mark.parametrize("variant", CAUSAL, ids=str)
every_carrying = pytest.mark.parametrize("variant", CARRYING, ids=str)
every_simple_causal = pytest.mark.parametrize("variant", SIMPLE_CAUSAL, ids=str)
every_simple_reading_ahead = pytest.mark.parametrize(
    "variant", [variant for variant in READING_AHEAD if len(variant.changes) <= 1], ids=str
)
every_reading_ahead = pytest.mark.parametrize("variant", READING_AHEAD, ids=str)


def vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def mask_of(lengths: list[int], longest: int) -> Tensor:
    return torch.arange(longest) < torch.tensor(lengths)[:, None]


def some_state(backbone: Backbone, batch: int) -> State:
    """Not the start: what is there after a few tokens, other in each row."""
    return backbone(vectors(batch, 3, INPUTS, seed=99))[1].detach()


def assert_close(given: Tensor, expected: Tensor) -> None:
    assert given.shape == expected.shape
    assert given.dtype == expected.dtype
    if expected.numel():
        assert float((given - expected).detach().abs().max()) <= 1e-5 * max(1.0, float(expected.detach().abs().max()))


def levelled(given: State, expected: State) -> tuple[State, State]:
    """Both with the same room along time: how much a state has beyond its longest row is of no meaning."""
    rows = len(given.lengths_B)
    joined = type(given).concat([given, expected])
    return joined.select(torch.arange(rows)), joined.select(torch.arange(rows, 2 * rows))


def assert_states_close(given: State, expected: State) -> None:
    assert type(given) is type(expected)
    assert torch.equal(given.lengths_B, expected.lengths_B)
    given, expected = levelled(given, expected)
    for one, other in zip(given.tensors(), expected.tensors(), strict=True):
        assert_close(one, other)


def equal_states(given: State, expected: State) -> bool:
    given, expected = levelled(given, expected)
    return all(torch.equal(one, other) for one, other in zip(given.tensors(), expected.tensors(), strict=True))
