"""Settings and closed-form sizes of the Transformer encoder, importable without torch."""

from typing import ClassVar

from pydantic import Field

from seqlab.backbones.transformer_settings import TransformerSettings


class TransformerEncoderSettings(TransformerSettings):
    bidirectional_sibling: ClassVar[str | None] = None
    causal_sibling: ClassVar[str | None] = "transformer"
    cross_attends: ClassVar[bool] = False

    segments: int = Field(default=0, ge=0, le=1024, description="segment types, each with a learned embedding")
    input_norm: bool = Field(default=False, description="normalize the embeddings")
    pooler: bool = Field(default=False, description="a layer on the first position computes the summary")

    @property
    def causal(self) -> bool:
        return False

    def core_parameters(self, inputs: int) -> int:
        """The blocks, segment vectors, the norm of the embeddings and the pooler."""
        norm = self.norm_parameters if self.input_norm else 0
        pooler = self.hidden * (self.hidden + 1) if self.pooler else 0
        return super().core_parameters(inputs) + self.segments * self.hidden + norm + pooler

    @property
    def keeps_output(self) -> bool:
        return self.pooler

    def activation_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        norm = self._norm_bytes() if self.input_norm else 0
        pooled = 4 * self.hidden if self.pooler and precision == "float32" else 0  # a view of all positions
        return super().activation_bytes(inputs, length, precision) + length * (norm + pooled)
