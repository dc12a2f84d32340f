"""Settings and closed-form size of the feed-forward network over a fixed window, importable without torch."""

from pydantic import Field

from seqlab.config import BackboneSettings, number_bytes


class FeedforwardSettings(BackboneSettings):
    span: int = Field(default=8, ge=1, le=4096, description="embeddings that it sees; 1 is the bigram network")

    @property
    def width(self) -> int:
        return self.hidden

    def core_parameters(self, inputs: int) -> int:
        return self.hidden * (self.span * inputs + 1) + (self.layers - 1) * self.hidden * (self.hidden + 1)

    @property
    def keeps_output(self) -> bool:
        return True

    def sequential_steps(self, length: int) -> int:
        return self.layers  # all positions at once

    def activation_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The window of each position, every layer's output, and its rounded copy where another layer reads it."""
        n = number_bytes(precision)
        rounded = 0 if n == 4 else n * (self.layers - 1) * self.hidden
        return length * (n * self.span * inputs + 4 * self.layers * self.hidden + rounded)

    def working_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The gradients of the windows and of a layer."""
        return length * (number_bytes(precision) * self.span * inputs + 4 * self.hidden)
