"""An architecture in small, with every pair of its options, alone and as a decoder that reads a source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, get_args, get_origin

import torch
from pydantic import ValidationError
from torch import Tensor

from seqlab.backbones.attention_decoder import AttentionDecoder
from seqlab.backbones.attention_decoder_settings import AttentionDecoderSettings
from seqlab.config import BackboneSettings
from seqlab.contracts import Backbone, Memory, State
from seqlab.testing.promises import require

INPUTS, HIDDEN, MEMORY = 5, 8, 6
SOURCES = (4, 2, 5, 1, 3)  # lengths of the sources that a decoder's rows read


@dataclass(frozen=True, eq=False)
class ArchitectureCase:
    """One choice of options. With `memory`, the width of a source's vectors, it is a decoder; `decoder` says how an
    architecture that does not attend to a source by itself is made to."""

    cls: type[Backbone]
    settings: BackboneSettings
    changes: dict[str, Any] = field(default_factory=dict)
    memory: int | None = None
    decoder: AttentionDecoderSettings | None = None

    def __str__(self) -> str:
        words = [self.cls.__name__, *(f"{key}={value}" for key, value in self.changes.items())]
        if self.memory is not None:
            way = f"{self.decoder.attention}-{self.decoder.attends}" if self.decoder else "cross-attention"
            words += [f"decoder-{way}-{self.memory}"]
        return "-".join(words)

    def build(self, seed: int = 0, inputs: int = INPUTS, **changes: Any) -> Backbone:
        """A module in evaluation mode, its weights drawn from the seed."""
        torch.default_generator.manual_seed(seed)  # a hundred times faster than torch.manual_seed
        settings: Any = self.with_settings(**changes)
        if self.memory is None:
            return draw_zeros(self.cls(settings, inputs)).eval()
        if self.decoder is None:
            return draw_zeros(self.cls(settings, inputs, self.memory)).eval()  # pyright: ignore[reportCallIssue]
        return draw_zeros(AttentionDecoder(self.decoder, self.cls, settings, inputs, self.memory)).eval()

    def with_settings(self, **changes: Any) -> BackboneSettings:
        """The settings with those of the changes that this architecture has."""
        known = {key: value for key, value in changes.items() if self.settings.has(key)}
        return type(self.settings)(**self.settings.model_dump() | known)

    def start(self, backbone: Backbone, batch: int) -> State:
        return backbone.start(batch) if self.memory is None else backbone.start(batch, self.source(SOURCES[:batch]))

    def later(self, backbone: Backbone, batch: int) -> State:
        """Not the start: the state after a few tokens, different in each row."""
        return backbone(vectors(batch, 3, INPUTS, seed=99), self.start(backbone, batch))[1].detach()

    def source(self, lengths: Sequence[int], longest: int | None = None, seed: int = 7) -> Memory:
        """A memory in which a row of a given length is always the same, whatever the padding and the other rows."""
        assert self.memory is not None
        longest = max(lengths) if longest is None else longest
        values_BSH = 100 * vectors(len(lengths), longest, self.memory, seed=seed + longest)  # seen in the padding only
        for row, length in enumerate(lengths):
            values_BSH[row, :length] = vectors(length, self.memory, seed=seed + length)
        summaries = [vectors(self.memory, seed=seed - length) for length in lengths]
        return Memory(values_BSH, mask_of(lengths, longest), torch.stack(summaries))

    def parameters(self, inputs: int) -> int:
        """In closed form."""
        table = self.settings.position_parameters
        if self.memory is not None and self.decoder is not None:
            return self.decoder.core_parameters(self.settings, inputs, self.memory) + table
        cross = 0 if self.memory is None else self.settings.cross_parameters(self.memory)
        return self.settings.core_parameters(inputs) + cross + table

    @property
    def uses_summary(self) -> bool:
        return self.decoder is not None and bool(self.settings.start_shapes(INPUTS))

    @property
    def attends(self) -> bool:
        return self.decoder is None or self.decoder.attention != "none"

    @property
    def steps_only(self) -> bool:
        """Whether it runs position by position, since attention comes before each step."""
        return self.decoder is not None and self.decoder.reads_first


@torch.no_grad()
def draw_zeros(backbone: Backbone) -> Backbone:
    """The backbone as if it had been trained: a matrix that starts as zeros would hide whatever is behind it."""
    for parameter in backbone.parameters():
        if parameter.dim() == 2 and not bool(parameter.any()):
            parameter.uniform_(-(parameter.shape[1] ** -0.5), parameter.shape[1] ** -0.5)
    return backbone


def cases(cls: type[Backbone]) -> list[ArchitectureCase]:
    """The architecture as it comes, with each option changed, and rows that cover every pair of options."""
    settings_class = cls.Settings
    sizes = {key: value for key, value in (("hidden", HIDDEN), ("layers", 2)) if settings_class.has(key)}
    try:
        base = settings_class(**sizes)  # pyright: ignore[reportAbstractUsage]
    except ValidationError:  # no stack of layers, for example
        base = settings_class(**{key: value for key, value in sizes.items() if key == "hidden"})  # pyright: ignore
    options = _options(base)
    singles = [{key: value} for key, values in options.items() for value in values]
    chosen = [{}, *singles, *_pair_rows(base, options)]
    return [ArchitectureCase(cls, type(base)(**base.model_dump() | changes), changes) for changes in chosen]


def _options(base: BackboneSettings) -> dict[str, list[Any]]:
    """The other values of each option: one layer, the opposite of a bool, the remaining choices of a Literal."""
    options: dict[str, list[Any]] = {}
    for key, info in type(base).model_fields.items():
        kinds = [info.annotation, *get_args(info.annotation)]
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if key == "layers" and getattr(base, key) > 1:
            options[key] = [1]
        elif info.annotation is bool:
            options[key] = [not getattr(base, key)]
        elif choices:
            options[key] = [choice for choice in choices if choice != getattr(base, key)]
    return {key: [value for value in values if _valid(base, {key: value})] for key, values in options.items()}


def _valid(base: BackboneSettings, changes: dict[str, Any]) -> bool:
    try:
        return bool(type(base)(**base.model_dump() | changes))
    except ValidationError:
        return False


def _pair_rows(base: BackboneSettings, options: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Few choices of many options that together contain every valid pair of changes: greedily, one row at a time."""
    single = [(key, value) for key, values in options.items() for value in values]
    left = [dict(pair) for pair in combinations(single, 2)]
    left = [pair for pair in left if len(pair) == 2 and _valid(base, pair)]
    while left:
        row = dict(left[0])
        for pair in left[1:]:
            fits = all(row.get(key, value) == value for key, value in pair.items())
            if fits and _valid(base, {**row, **pair}):
                row |= pair
        yield row
        left = [pair for pair in left if not pair.items() <= row.items()]


def decoder_cases(case: ArchitectureCase) -> Iterator[ArchitectureCase]:
    """With every attention, and sources as wide as the query and not; with an option changed, in one of these ways."""
    cls, settings, changes = case.cls, case.settings, case.changes
    if settings.cross_attends:
        widths = (MEMORY, HIDDEN)[: 1 if changes else 2]
        yield from (ArchitectureCase(cls, settings, changes, memory) for memory in widths)
        return
    ways: list[tuple[Any, Any]] = [(score, when) for score in ("dot", "scaled") for when in ("after", "before")]
    ways += [("additive", "after"), ("additive", "before"), ("none", "after")]
    for attention, attends in ways[5:6] if changes else ways:
        if attention == "none" and not settings.start_shapes(INPUTS):
            continue
        decoder = AttentionDecoderSettings(attention=attention, attends=attends)
        yield ArchitectureCase(cls, settings, changes, MEMORY, decoder)
        if attention == "dot":
            yield ArchitectureCase(cls, settings, changes, decoder.query_width(settings), decoder)


# --- tensors and states ---------------------------------------------------------------------------------------------


def vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def mask_of(lengths: Sequence[int], longest: int) -> Tensor:
    return torch.arange(longest) < torch.tensor(lengths)[:, None]


def same(actual: Tensor, expected: Tensor, where: str) -> None:
    """AssertionError if two tensors differ by more than 1e-5 of the largest number."""
    kinds = [f"{tuple(tensor.shape)} {tensor.dtype}" for tensor in (actual, expected)]
    require(kinds[0] == kinds[1], f"{where}: {kinds[0]} instead of {kinds[1]}")
    if expected.numel():
        actual, expected = actual.detach().to(torch.float64), expected.detach().to(torch.float64)
        largest = float((actual - expected).abs().max())
        require(largest <= 1e-5 * max(1.0, float(expected.abs().max())), f"{where}: they differ by {largest:.2g}")


def same_state(actual: State, expected: State, where: str, exact: bool = False) -> None:
    """The same for states, whatever room a state has beyond its longest row."""
    types = type(actual).__name__, type(expected).__name__
    require(types[0] == types[1], f"{where}: {types[0]} instead of {types[1]}")
    lengths = actual.lengths_B.tolist(), expected.lengths_B.tolist()
    require(lengths[0] == lengths[1], f"{where}: lengths_B is {lengths[0]} instead of {lengths[1]}")
    joined, rows = type(actual).concat([actual, expected]), len(lengths[0])
    first, second = joined.select(torch.arange(rows)), joined.select(torch.arange(rows, 2 * rows))
    for number, (a, b) in enumerate(zip(first.tensors(), second.tensors(), strict=True)):
        if exact:
            require(torch.equal(a, b), f"{where}: tensor {number} of the state: they are not equal")
        else:
            same(a, b, f"{where}: tensor {number} of the state")
