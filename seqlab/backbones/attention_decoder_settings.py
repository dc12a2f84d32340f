"""Settings and closed-form sizes of what makes an architecture read a source, importable without torch."""

from typing import Any, Literal

from pydantic import Field

from seqlab.config import Settings
from seqlab.errors import UsageError


class ReaderSettings(Settings):
    """`inner` below are the settings of the architecture that is made to read, `memory` the width of a source's
    vectors."""

    attention: Literal["none", "dot", "scaled", "additive"] = Field(
        default="additive", description="how source and state are compared; with none, the summary is all there is"
    )
    attends: Literal["after", "before"] = Field(
        default="after", description="the source is looked at after each step, or before it"
    )

    @property
    def reads_first(self) -> bool:
        """Whether what is read of the source goes into the step."""
        return self.attention != "none" and self.attends == "before"

    def refuse_unfit(self, inner: Any) -> None:
        """UsageError where the architecture cannot be made to read in this way."""
        if not inner.causal:
            raise UsageError(
                "an architecture that reads ahead cannot write token by token, so it cannot read a source and "
                "write another text. Use one that is causal: bidirectional=false."
            )
        if self.attention == "none" and not inner.start_vectors:
            raise UsageError(
                "without attention a source is known by the state that it starts, and this architecture has no state "
                "to start from, so it needs attention: additive, dot or scaled instead of none."
            )

    def query_width(self, inner: Any) -> int:
        """Of what is compared with the source: the output, or the state before it where there is one."""
        return inner.hidden if self.reads_first and inner.start_vectors else inner.width

    def context_width(self, inner: Any, memory: int) -> int:
        """Of what is read at one position: products need source and query equally wide, so they make them so."""
        if self.attention == "none":
            return 0
        return memory if self.attention == "additive" else self.query_width(inner)

    def inner_inputs(self, inner: Any, inputs: int, memory: int) -> int:
        """What the inner architecture is built with."""
        return inputs + (self.context_width(inner, memory) if self.reads_first else 0)

    def own_parameters(self, inner: Any, memory: int) -> int:
        """Besides the inner architecture's: what starts its vectors, compares, and joins context and output."""
        starts = sum(width * (memory + 1) for width in inner.start_vectors)
        if self.attention == "none":
            return starts
        query, context = self.query_width(inner), self.context_width(inner, memory)
        if self.attention == "additive":
            compare = inner.hidden * (query + memory + 2)
        else:
            compare = context * (memory + 1) if context != memory else 0
        return starts + compare + inner.width * (context + inner.width)

    def core_parameters(self, inner: Any, inputs: int, memory: int) -> int:
        """Of the whole."""
        return inner.core_parameters(self.inner_inputs(inner, inputs, memory)) + self.own_parameters(inner, memory)
