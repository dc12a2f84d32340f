"""Settings and closed-form sizes of the Transformer, importable without torch."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from seqlab.config import BackboneSettings, number_bytes


class TransformerSettings(BackboneSettings):
    bidirectional_sibling: ClassVar[str | None] = "transformer-encoder"
    cross_attends: ClassVar[bool] = True
    dropout_share: ClassVar[float] = 0.5
    default_overrides: ClassVar[dict[str, Any]] = {
        "train.lr": 2e-3,
        "train.optimizer": "adamw",
        "train.weight_decay": 0.1,
    }

    hidden: int = Field(default=128, ge=1, le=65_536, description="width of the residual stream")
    layers: int = Field(default=4, ge=1, le=256, description="how many layers are stacked")
    heads: int = Field(default=4, ge=1, le=1024, description="attention heads of each layer")
    feedforward: int | None = Field(default=None, ge=1, le=2**20, description="inner width; 4 times hidden if unset")
    activation: Literal["gelu", "relu", "relu2", "swiglu"] = Field(
        default="gelu", description="of the feedforward sublayers; relu2 is the square of relu"
    )
    norm: Literal["layer", "rms"] = Field(default="layer", description="normalization of the sublayers")
    qk_norm: bool = Field(default=False, description="queries and keys of each head have root mean square 1")
    zero_init: bool = Field(default=False, description="sublayers begin with output projections of 0")
    norm_position: Literal["before", "after"] = Field(default="before", description="of each sublayer")
    positions: Literal["rotary", "learned", "sinusoidal", "none"] = Field(
        default="rotary", description="how positions are encoded"
    )
    context: int = Field(
        default=128, ge=1, le=2**20, description="positions that a query sees; the task's sequence length if unset"
    )
    scale_input: bool = Field(default=False, description="multiply the embeddings by the square root of the width")
    dropout: float | None = Field(
        default=None, ge=0, lt=1, description="of sublayers; if unset, from the size of a text"
    )
    attention_dropout: float = Field(
        default=0.0, ge=0, lt=1, description="of attention weights; above 0, training leaves the fused kernel"
    )
    implementation: Literal["fused", "plain"] = Field(
        default="fused", description="torch's attention kernel, or the equations"
    )

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        if self.positions == "rotary" and self.hidden // self.heads % 2:
            raise ValueError(f"rotary positions need an even head size, not {self.hidden // self.heads}")
        return self

    @property
    def width(self) -> int:
        return self.hidden

    @property
    def inner(self) -> int:
        return self.feedforward or 4 * self.hidden

    @property
    def norm_parameters(self) -> int:
        return self.hidden * (2 if self.norm == "layer" else 1)

    def block_parameters(self) -> int:
        """Attention, feed-forward and two norms of one layer."""
        attention = 4 * self.hidden * (self.hidden + 1)
        up = (2 if self.activation == "swiglu" else 1) * self.inner * (self.hidden + 1)
        return attention + up + self.hidden * (self.inner + 1) + 2 * self.norm_parameters

    def core_parameters(self, inputs: int) -> int:
        """All layers, the final norm if norms come before, and a projection if the embedding has another width."""
        enter = self.hidden * (inputs + 1) if inputs != self.hidden else 0
        last = self.norm_parameters if self.norm_position == "before" else 0
        return enter + self.layers * self.block_parameters() + last

    def cross_parameters(self, memory: int) -> int:
        """Four projections and a norm in each layer."""
        projections = 2 * self.hidden * (self.hidden + 1) + 2 * self.hidden * (memory + 1)
        return self.layers * (projections + self.norm_parameters)

    @property
    def position_parameters(self) -> int:
        """The table of learned positions."""
        return self.context * self.hidden if self.positions == "learned" else 0

    def sequential_steps(self, length: int) -> int:
        return self.layers  # all positions at once

    def activation_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """All layers, the residual stream after the last, and the input where a projection reads it."""
        n = number_bytes(precision)
        enter = n * inputs if inputs != self.hidden else 0
        last = self._norm_bytes() if self.norm_position == "before" else 0
        return length * (enter + self.layers * self._block_bytes(length, precision) + last)

    def recomputed_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """All but the residual stream before each layer."""
        return length * self.layers * (self._block_bytes(length, precision) - 4 * self.hidden)

    def _block_bytes(self, length: int, precision: str) -> int:
        """Per position: two norms and what they feed, attention, and the feedforward layer."""
        n = number_bytes(precision)
        norms = 2 * (self._norm_bytes() + (n if self.norm_position == "before" or n == 2 else 4) * self.hidden)
        return norms + self._attention_bytes(length, precision) + n * self._kept_inner * self.inner

    def _norm_bytes(self) -> int:
        """The input of a norm and its mean and deviation; torch's RMSNorm keeps the normalized vector, too."""
        return 4 * self.hidden + 8 if self.norm == "layer" else 8 * self.hidden + 4

    @property
    def _kept_inner(self) -> int:
        """Vectors of the inner width that the backward pass needs: before and after the activation."""
        return {"gelu": 2, "relu": 1, "relu2": 2, "swiglu": 4}[self.activation]

    def _attention_bytes(self, length: int, precision: str) -> int:
        """Queries, keys, values and the output, rotated or normalized copies, and what the kernel or the equation keeps
        of the weights."""
        n = number_bytes(precision)
        changed = 2 * self.hidden if self.positions == "rotary" or self.qk_norm else 0
        normalized = 8 * self.hidden if self.qk_norm and n == 2 else 0
        if self.plain or self.attention_dropout:
            copied = n * (4 + 3 * (self.qk_norm and n == 4)) * self.hidden  # for the products of all heads
            return copied + normalized + self.heads * length * (4 + n)
        mask = 4 * length if self.context < length or not self.causal else 0
        inside = 4 * (4 * self.hidden + changed) if n == 4 else 4 * 4 * self.hidden + n * self.hidden
        return inside + normalized + 4 * self.heads + mask  # the kernel computes in float32 (precision.py)

    def working_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The gradients inside a feedforward layer and of the residual stream."""
        return length * (number_bytes(precision) * max(1, self._kept_inner // 2) * self.inner + 4 * self.hidden)

    def cross_activation_bytes(self, length: int, source: int, memory: int, precision: str = "float32") -> int:
        """In each layer a norm, queries and the output, and keys and values of the source."""
        n = number_bytes(precision)
        inside = self.cross_recomputed_bytes(length, source, precision)
        kept = n if self.plain or self.attention_dropout else 4
        return inside + self.layers * kept * source * 2 * self.hidden + n * source * memory

    def cross_recomputed_bytes(self, length: int, source: int, precision: str = "float32") -> int:
        """All but the keys and values, which are projected once for all layers."""
        n = number_bytes(precision)
        if self.plain or self.attention_dropout:
            inside = 3 * n * self.hidden + self.heads * source * (4 + n)
        else:
            inside = (3 * 4 if n == 4 else 2 * 4 + 2 * n) * self.hidden + 4 * source
        return self.layers * length * (self._norm_bytes() + inside + 4 * self.heads)
