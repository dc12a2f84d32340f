"""Settings and closed-form sizes of the recurrent architectures, importable without torch."""

from typing import ClassVar, Literal

from pydantic import Field

from seqlab.config import BackboneSettings


class RecurrentSettings(BackboneSettings):
    state_query: ClassVar[bool] = True
    gates: ClassVar[int]
    state_vectors: ClassVar[int] = 1  # in the state of one cell

    dropout: float | None = Field(
        default=None, ge=0, lt=1, description="between layers; if unset, from the size of a text"
    )
    residual: bool = Field(default=False, description="each layer after the first adds to its input")
    bidirectional: bool = Field(default=False, description="read in both directions; such a model cannot generate")
    implementation: Literal["fused", "plain"] = Field(
        default="fused", description="torch's kernels, or the equations step by step"
    )

    @property
    def has_dropout(self) -> bool:
        return self.layers > 1

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def width(self) -> int:
        return self.hidden * self.directions

    def start_shapes(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        return ((self.hidden,),) * (self.layers * self.directions * self.state_vectors)

    def core_parameters(self, inputs: int) -> int:
        """Weights of input and state and two bias vectors, per gate, direction and layer."""
        below = [inputs] + [self.width] * (self.layers - 1)
        return sum(self.directions * self.gates * self.hidden * (width + self.hidden + 2) for width in below)


class RnnSettings(RecurrentSettings):
    gates = 1
    activation: Literal["tanh", "relu", "sigmoid"] = Field(default="tanh", description="of the state")


class GruSettings(RecurrentSettings):
    gates = 3
    reset: Literal["after", "before"] = Field(default="after", description="reset gate: after or before the product")


class LstmSettings(RecurrentSettings):
    gates = 4
    state_vectors = 2
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="initial bias of the forget gate")
