"""Settings and closed-form sizes of the LSTM with attention, importable without torch."""

from typing import ClassVar, Literal

from pydantic import Field

from seqlab.config import BackboneSettings


class LstmAttentionSettings(BackboneSettings):
    state_query: ClassVar[bool] = True

    dropout: float = Field(default=0.0, ge=0, lt=1, description="between layers")
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="where the forget gate's bias starts")
    score: Literal["additive", "dot", "scaled"] = Field(default="additive", description="how states are compared")
    combine: Literal["concat", "context", "add"] = Field(
        default="concat", description="the output: [state; context], the context alone, or their sum"
    )
    context: int | None = Field(default=None, ge=1, le=2**20, description="states that a position sees; all if unset")
    implementation: Literal["fused", "plain"] = Field(default="fused", description="fast kernels, or the equations")

    @property
    def width(self) -> int:
        return self.hidden * 2 if self.combine == "concat" else self.hidden

    def start_shapes(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        """The LSTM's hidden and cell vectors."""
        return ((self.hidden,),) * (2 * self.layers)

    def core_parameters(self, inputs: int) -> int:
        """The LSTM's gates, and of additive scores two matrices, a bias and v."""
        below = [inputs] + [self.hidden] * (self.layers - 1)
        recurrent = sum(4 * self.hidden * (width + self.hidden + 2) for width in below)
        return recurrent + (self.hidden * (2 * self.hidden + 2) if self.score == "additive" else 0)
