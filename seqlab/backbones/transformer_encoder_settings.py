"""Settings and closed-form sizes of the Transformer encoder, importable without torch."""

from typing import ClassVar

from pydantic import Field

from seqlab.backbones.transformer_settings import TransformerSettings


class EncoderSettings(TransformerSettings):
    causal: ClassVar[bool] = False
    both_ways: ClassVar[str | None] = None
    one_way: ClassVar[str] = "transformer"  # its kind that can write

    segments: int = Field(default=0, ge=0, le=1024, description="kinds of segment, each with a vector of its own")
    input_norm: bool = Field(default=False, description="normalise the embeddings")
    pooler: bool = Field(default=False, description="a layer on the first position makes the summary")

    def core_parameters(self, inputs: int) -> int:
        """The blocks, segment vectors, the norm of the embeddings and the pooler."""
        norm = self.norm_parameters if self.input_norm else 0
        pooler = self.hidden * (self.hidden + 1) if self.pooler else 0
        return self.stack_parameters(inputs) + self.segments * self.hidden + norm + pooler
