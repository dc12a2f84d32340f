"""Settings and closed-form size of the feed-forward network over a fixed window, importable without torch."""

from typing import ClassVar

from pydantic import Field

from seqlab.config import Settings


class FeedforwardSettings(Settings):
    causal: ClassVar[bool] = True
    hidden: int = Field(default=256, ge=1, le=65_536, description="width of the hidden layer")
    layers: int = Field(default=1, ge=1, le=256, description="hidden layers")
    span: int = Field(default=8, ge=1, le=4096, description="embeddings that it sees; 1 is the bigram network")

    @property
    def width(self) -> int:
        return self.hidden

    @property
    def start_vectors(self) -> tuple[int, ...]:
        """Widths of the vectors that the start state consists of: it has inputs only."""
        return ()

    def core_parameters(self, inputs: int) -> int:
        return self.hidden * (self.span * inputs + 1) + (self.layers - 1) * self.hidden * (self.hidden + 1)
