"""Settings and closed-form size of the feed-forward network over a fixed window, importable without torch."""

from pydantic import Field

from seqlab.config import BackboneSettings


class FeedforwardSettings(BackboneSettings):
    span: int = Field(default=8, ge=1, le=4096, description="embeddings that it sees; 1 is the bigram network")

    @property
    def width(self) -> int:
        return self.hidden

    def core_parameters(self, inputs: int) -> int:
        return self.hidden * (self.span * inputs + 1) + (self.layers - 1) * self.hidden * (self.hidden + 1)
