"""Settings and closed-form sizes of the LSTM with attention, importable without torch."""

from typing import ClassVar, Literal

from pydantic import Field

from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.config import BackboneSettings


class LstmAttentionSettings(BackboneSettings):
    state_query: ClassVar[bool] = True

    dropout: float = Field(default=0.0, ge=0, lt=1, description="between layers")
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="initial bias of the forget gate")
    score: Literal["additive", "dot", "scaled"] = Field(default="additive", description="how states are compared")
    combine: Literal["concat", "context", "add"] = Field(
        default="concat", description="the output: [state; context], the context alone, or their sum"
    )
    context: int | None = Field(default=None, ge=1, le=2**20, description="states that a position sees; all if unset")
    implementation: Literal["fused", "plain"] = Field(default="fused", description="fast kernels, or the equations")

    @property
    def recurrent(self) -> LstmSettings:
        """The settings of the LSTM inside."""
        return LstmSettings(**self.model_dump(include={"hidden", "layers", "dropout", "forget_bias", "implementation"}))

    @property
    def width(self) -> int:
        return self.hidden * 2 if self.combine == "concat" else self.hidden

    def start_shapes(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        return self.recurrent.start_shapes(inputs)

    def core_parameters(self, inputs: int) -> int:
        """The LSTM, and for additive scores two matrices, a bias and v."""
        scores = self.hidden * (2 * self.hidden + 2) if self.score == "additive" else 0
        return self.recurrent.core_parameters(inputs) + scores
