"""Settings and closed-form sizes of the LSTM with attention, importable without torch."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.config import BackboneSettings, number_bytes


class LstmAttentionSettings(BackboneSettings):
    state_query: ClassVar[bool] = True

    dropout: float | None = Field(
        default=None, ge=0, lt=1, description="between layers; if unset, from the size of a text"
    )
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="initial bias of the forget gate")
    score: Literal["additive", "dot", "scaled"] = Field(default="additive", description="how states are compared")
    combine: Literal["concat", "context", "add"] = Field(
        default="concat", description="the output: [state; context], the context alone, or their sum"
    )
    context: int | None = Field(default=None, ge=1, le=2**20, description="states that a position sees; all if unset")
    bidirectional: bool = Field(default=False, description="read in both directions; such a model cannot generate")
    implementation: Literal["fused", "plain"] = Field(default="fused", description="fast kernels, or the equations")

    @model_validator(mode="after")
    def _context_looks_back(self) -> Self:
        if self.bidirectional and self.context is not None:
            raise ValueError(
                f"context={self.context} counts states before a position, but a bidirectional model also sees those "
                f"after it: leave out context, or set bidirectional=false"
            )
        return self

    @property
    def has_dropout(self) -> bool:
        return self.layers > 1

    @property
    def recurrent(self) -> LstmSettings:
        """The settings of the LSTM inside."""
        shared = {"hidden", "layers", "dropout", "forget_bias", "bidirectional", "implementation"}
        return LstmSettings(**self.model_dump(include=shared))

    @property
    def key_width(self) -> int:
        """Width of the projected keys and queries; dot products compare the states themselves."""
        return self.hidden if self.score == "additive" else self.recurrent.width

    @property
    def width(self) -> int:
        return self.recurrent.width * (2 if self.combine == "concat" else 1)

    def start_shapes(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        return self.recurrent.start_shapes(inputs)

    def core_parameters(self, inputs: int) -> int:
        """The LSTM, and for additive scores two matrices, a bias and v."""
        scores = self.hidden * (2 * self.recurrent.width + 2) if self.score == "additive" else 0
        return self.recurrent.core_parameters(inputs) + scores

    def activation_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The LSTM and the attention."""
        attention = self._attention_bytes(length, precision)
        return self.recurrent.activation_bytes(inputs, length, precision) + length * attention

    def recomputed_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The LSTM: the attention keeps what it needs."""
        return self.recurrent.recomputed_bytes(inputs, length, precision)

    def _attention_bytes(self, length: int, precision: str) -> int:
        """Per position: the LSTM's outputs as values, queries and keys (additive: also their exponentials), and the
        weights."""
        n, states, keys = number_bytes(precision), 4 * self.recurrent.width, 4 * self.key_width
        copies = 2 if self.score == "additive" else 1  # dot products read the states themselves
        rounded = 0 if n == 4 else copies * n * self.recurrent.width
        if self.plain:
            pairs = n * self.hidden if self.score == "additive" else 0  # the tanh of every pair
            return states + rounded + keys * (self.score == "additive") + length * (pairs + 4 + n)
        if self.score == "additive":
            return states + rounded + 4 * keys + 4 * length
        return states + 2 * keys + 4 * length

    def working_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """When the backward pass reaches the LSTM, the attention is done."""
        recurrent = self.recurrent.working_bytes(inputs, length, precision)
        return recurrent - length * self._attention_bytes(length, precision)

    def untouched_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        return self.recurrent.untouched_bytes(inputs, length, precision)
