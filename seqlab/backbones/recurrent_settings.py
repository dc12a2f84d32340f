"""Settings and closed-form sizes of the recurrent architectures, importable without torch."""

from typing import ClassVar, Literal

from pydantic import Field

from seqlab.config import Settings


class RecurrentSettings(Settings):
    gates: ClassVar[int]
    vectors: ClassVar[int] = 1  # that a cell remembers

    hidden: int = Field(default=256, ge=1, le=65_536, description="width of the state")
    layers: int = Field(default=1, ge=1, le=256, description="how many are stacked")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="between layers")
    residual: bool = Field(default=False, description="each layer after the first adds to its input")
    bidirectional: bool = Field(default=False, description="reads both ways; then it cannot generate")
    implementation: Literal["fused", "plain"] = Field(
        default="fused", description="torch's kernels, or the equations in a loop"
    )

    @property
    def causal(self) -> bool:
        """Whether an output depends on nothing that comes after it."""
        return not self.bidirectional

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def width(self) -> int:
        return self.hidden * self.directions

    @property
    def start_vectors(self) -> tuple[int, ...]:
        """Widths of the vectors that the start state consists of."""
        return (self.hidden,) * (self.layers * self.directions * self.vectors)

    def core_parameters(self, inputs: int) -> int:
        """Weights of input and state and two bias vectors, per gate, direction and layer."""
        below = [inputs] + [self.width] * (self.layers - 1)
        return sum(self.directions * self.gates * self.hidden * (width + self.hidden + 2) for width in below)


class RnnSettings(RecurrentSettings):
    gates = 1
    activation: Literal["tanh", "relu", "sigmoid"] = "tanh"


class GruSettings(RecurrentSettings):
    gates = 3
    reset: Literal["after", "before"] = Field(default="after", description="the gate acts after or before the product")


class LstmSettings(RecurrentSettings):
    gates = 4
    vectors = 2
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="where the forget gate's bias starts")
