"""Settings and closed-form sizes of the LSTM with attention, importable without torch."""

from typing import ClassVar, Literal

from pydantic import Field

from seqlab.config import Settings


class AttentiveSettings(Settings):
    causal: ClassVar[bool] = True

    hidden: int = Field(default=256, ge=1, le=65_536, description="width of the state")
    layers: int = Field(default=1, ge=1, le=256, description="LSTM layers under the attention")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="between layers")
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="where the forget gate's bias starts")
    score: Literal["additive", "dot", "scaled"] = Field(default="additive", description="how states are compared")
    combine: Literal["concat", "context", "add"] = Field(
        default="concat", description="what goes on: [state; context], the context alone, or their sum"
    )
    context: int | None = Field(default=None, ge=1, le=2**20, description="states that a position sees; all if unset")
    implementation: Literal["fused", "plain"] = Field(default="fused", description="fast kernels, or the equations")

    @property
    def width(self) -> int:
        return self.hidden * 2 if self.combine == "concat" else self.hidden

    @property
    def start_vectors(self) -> tuple[int, ...]:
        """Widths of the vectors that the start state consists of: those of the LSTM."""
        return (self.hidden,) * (2 * self.layers)

    def core_parameters(self, inputs: int) -> int:
        """The LSTM's gates, and of additive scores two matrices, a bias and v."""
        below = [inputs] + [self.hidden] * (self.layers - 1)
        recurrent = sum(4 * self.hidden * (width + self.hidden + 2) for width in below)
        return recurrent + (self.hidden * (2 * self.hidden + 2) if self.score == "additive" else 0)
