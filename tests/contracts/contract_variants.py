"""Every registered architecture in small, with every pair of its options, found in its settings' own fields.

No test in this folder names an architecture: registering one is enough to have it tested.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from itertools import combinations, product
from typing import Any, Literal, get_args, get_origin

import pytest
import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor

from seqlab.backbones.attention_decoder import Reader
from seqlab.backbones.attention_decoder_settings import ReaderSettings
from seqlab.contracts import Backbone, Memory, State
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


# --- reading a source -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reading:
    """A variant that reads a source with vectors of width `memory`: by itself where it can, else made to."""

    variant: Variant
    memory: int
    reader: ReaderSettings | None = None

    def __str__(self) -> str:
        way = f"{self.reader.attention}-{self.reader.attends}" if self.reader else "itself"
        return f"{self.variant}-{way}-{self.memory}"

    def build(self, seed: int = 0, inputs: int = INPUTS, **changes: Any) -> Backbone:
        """A module in evaluation mode, its weights drawn from the seed."""
        torch.default_generator.manual_seed(seed)
        backbone, settings = BACKBONES.load(self.variant.name), self.variant.having(**changes)
        if self.reader is None:
            return backbone(settings, inputs, self.memory).eval()
        return Reader(self.reader, backbone, settings, inputs, self.memory).eval()

    def parameters(self, inputs: int) -> int:
        """In closed form."""
        settings = self.variant.having()
        if self.reader is None:
            table = settings.position_parameters
            return settings.core_parameters(inputs) + settings.cross_parameters(self.memory) + table
        return self.reader.core_parameters(settings, inputs, self.memory)

    @property
    def by_summary_alone(self) -> bool:
        return self.reader is not None and self.reader.attention == "none"

    @property
    def uses_summary(self) -> bool:
        return self.reader is not None and bool(self.variant.having().start_shapes(1))


def ways_to_read(variant: Variant) -> Iterator[Reading]:
    """With every attention, and sources as wide as what asks and not; with an option changed, in one of these ways."""
    settings = variant.having()
    if "memory" in signature(BACKBONES.load(variant.name)).parameters:
        yield from (Reading(variant, memory) for memory in (MEMORY, SIZES["hidden"])[: 1 if variant.changes else 2])
        return
    ways = [("dot", "after"), ("scaled", "after"), ("dot", "before"), ("scaled", "before")]
    ways += [("additive", "after"), ("additive", "before"), ("none", "after")]
    for attention, attends in [("additive", "before")] if variant.changes else ways:
        if attention == "none" and not settings.start_shapes(1):
            continue
        reader = ReaderSettings(attention=attention, attends=attends)  # pyright: ignore[reportArgumentType]
        yield Reading(variant, MEMORY, reader)
        if attention == "dot":
            yield Reading(variant, reader.query_width(settings), reader)


MEMORY = 6
READING = [reading for variant in SIMPLE_CAUSAL for reading in ways_to_read(variant)]
every_reading = pytest.mark.parametrize("reading", READING, ids=str)


def source(lengths: list[int], width: int, longest: int | None = None, seed: int = 7) -> Memory:
    """A memory whose row of a length is always the same one, whatever the other rows and the padding are."""
    longest = max(lengths) if longest is None else longest
    values_BSH = 100 * vectors(len(lengths), longest, width, seed=seed + longest)  # what stands in the padding
    for row, length in enumerate(lengths):
        values_BSH[row, :length] = vectors(length, width, seed=seed + length)
    summaries = [vectors(width, seed=seed - length) for length in lengths]
    return Memory(values_BSH, mask_of(lengths, longest), torch.stack(summaries))


SOURCES = [4, 2, 5, 1]


def started(reading: Reading, sources: list[int] = SOURCES, **changes: Any) -> tuple[Backbone, State]:
    """A backbone and the state that it starts from."""
    backbone = reading.build(**changes)
    return backbone, backbone.start(len(sources), source(sources, reading.memory))


def further(backbone: Backbone, state: State) -> State:
    """Not the start: what is there after a few tokens."""
    return backbone(vectors(len(state.lengths_B), 3, INPUTS, seed=99), state)[1].detach()


def assert_same(given: State, expected: State) -> None:
    """Close in every leaf, a mask among them."""
    as_numbers = [state.map(lambda leaf: leaf + 0 if leaf.dtype is torch.bool else leaf) for state in (given, expected)]
    assert_states_close(*as_numbers)
