"""Settings and parameter count of the attention decoder, importable without torch."""

from math import prod
from typing import Literal

from pydantic import Field

from seqlab.config import BackboneSettings, BatchShape, Settings, number_bytes
from seqlab.errors import UsageError


class AttentionDecoderSettings(Settings):
    """`inner` below are the settings of the architecture inside, `memory` is the width of the source's vectors."""

    attention: Literal["none", "dot", "scaled", "additive"] = Field(
        default="additive", description="how source and state are compared; none: the decoder knows the summary only"
    )
    attends: Literal["after", "before"] = Field(
        default="after", description="attention comes after each step, or before it"
    )

    @property
    def reads_first(self) -> bool:
        """Whether the context vector is an input of the step."""
        return self.attention != "none" and self.attends == "before"

    def refuse_unfit(self, inner: BackboneSettings) -> None:
        """UsageError where the architecture cannot be a decoder of this kind."""
        if not inner.causal:
            raise UsageError(
                "a bidirectional architecture cannot generate token by token, so it cannot be a decoder. Use a causal "
                "one: bidirectional=false."
            )
        if self.attention == "none" and not inner.start_shapes(1):
            raise UsageError(
                "without attention a decoder knows the source by its start state, and this architecture's start state "
                "is fixed, so it needs attention: additive, dot or scaled instead of none."
            )

    def query_width(self, inner: BackboneSettings) -> int:
        """Width of the attention's query: the output, or before a step the state's own query vector if it has one."""
        return inner.hidden if self.reads_first and inner.state_query else inner.width

    def context_width(self, inner: BackboneSettings, memory: int) -> int:
        """Width of the context vector. Dot products need values as wide as the query, so they are projected to it."""
        if self.attention == "none":
            return 0
        return memory if self.attention == "additive" else self.query_width(inner)

    def inner_inputs(self, inner: BackboneSettings, inputs: int, memory: int) -> int:
        """Width of the inner architecture's input: with attention before a step, the context is part of it."""
        return inputs + (self.context_width(inner, memory) if self.reads_first else 0)

    def core_parameters(self, inner: BackboneSettings, inputs: int, memory: int) -> int:
        """Parameters of the inner architecture, its start state, the attention, and the output projection."""
        inner_inputs = self.inner_inputs(inner, inputs, memory)
        core = inner.core_parameters(inner_inputs)
        core += sum(prod(shape) * (memory + 1) for shape in inner.start_shapes(inner_inputs))
        if self.attention == "none":
            return core
        query, context = self.query_width(inner), self.context_width(inner, memory)
        if self.attention == "additive":
            scores = inner.hidden * (query + memory + 2)
        else:
            scores = context * (memory + 1) if context != memory else 0
        return core + scores + inner.width * (context + inner.width)

    def activation_bytes(
        self, inner: BackboneSettings, inputs: int, memory: int, shape: BatchShape, precision: str = "float32"
    ) -> int:
        """For one source of `length` and one target of `target` positions: the inner architecture, keys and values,
        queries, weights, and the joined vectors."""
        steps, source, n = shape.target, shape.length, number_bytes(precision)
        row = inner.activation_bytes(self.inner_inputs(inner, inputs, memory), steps, precision)
        if self.attention == "none":
            return row
        context, exponentials = self.context_width(inner, memory), 2 if self.attention == "additive" else 1
        keys = source * (n * memory + 4 * context + 4 * exponentials * inner.hidden)
        queries = steps * 4 * exponentials * self.query_width(inner)
        joined = steps * (n * (context + inner.width) + 4 * inner.width)
        weights = 4 * steps * source * (2 if self.reads_first else 1)
        return row + keys + queries + weights + joined
