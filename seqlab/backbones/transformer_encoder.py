"""The Transformer encoder (Vaswani et al. 2017; segments and pooler: Devlin et al. 2018): the decoder's blocks without
the causal mask, so every position sees its whole row.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqlab.attention.masks import everything
from seqlab.backbones.transformer import Stack, make_norm
from seqlab.backbones.transformer_encoder_settings import TransformerEncoderSettings
from seqlab.contracts import Backbone, Memory, Recorded, State, Trace
from seqlab.linear import Linear


@dataclass(frozen=True)
class TransformerEncoderState(State):
    """One vector for each row; no sequence can continue from it."""

    summary_BH: Tensor


class TransformerEncoder(Backbone):
    Settings = TransformerEncoderSettings
    fast = "torch's attention kernel, all positions at once"
    onnx_backbone = "seqlab.exporters.onnx.transformer:TransformerOnnx"
    settings: TransformerEncoderSettings
    carries = False
    recomputes = True

    def __init__(self, settings: TransformerEncoderSettings, inputs: int):
        super().__init__(settings, inputs)
        self.stack = Stack(settings, inputs)
        segments_GD = torch.randn(settings.segments, settings.hidden) * 0.02
        self.segments_GD = nn.Parameter(segments_GD) if settings.segments else None
        self.matrix_blocks = {"segments_GD": 0} if settings.segments else {}
        self.norm = make_norm(settings) if settings.input_norm else None
        self.pooler = Linear(settings.hidden, settings.hidden) if settings.pooler else None

    @property
    def records(self) -> dict[str, Recorded]:
        return self.stack.records

    @property
    def limit(self) -> int | None:
        return self.stack.positions.limit

    def start(self, batch: int, memory: Memory | None = None) -> TransformerEncoderState:
        assert memory is None, "an encoder reads no memory"
        summary_BH = next(self.parameters()).new_zeros(batch, self.width)
        return TransformerEncoderState(self.zero_lengths(batch), summary_BH)

    def forward(
        self,
        x_BTD: Tensor,
        state: State | None = None,
        mask_BT: Tensor | None = None,
        trace: Trace | None = None,
        segment_BT: Tensor | None = None,
    ) -> tuple[Tensor, TransformerEncoderState]:
        """Without `segment_BT`, every position belongs to the first segment."""
        B, T = x_BTD.shape[:2]
        before = state if state is not None else self.start(B)
        assert isinstance(before, TransformerEncoderState)
        new_B = torch.full((B,), T, device=x_BTD.device) if mask_BT is None else mask_BT.sum(1)
        position_BT = torch.arange(T, device=x_BTD.device)[None]
        embedded_BTD = self._embed(x_BTD, position_BT, segment_BT)
        y_BTD, _ = self.stack(embedded_BTD, position_BT, None, None, everything(new_B, T), trace)
        pooled_BH = y_BTD[:, 0] if self.pooler is None else torch.tanh(self.pooler(y_BTD[:, 0]))
        summary_BH = torch.where(new_B[:, None] > 0, pooled_BH, before.summary_BH)
        return y_BTD, TransformerEncoderState(before.lengths_B + new_B, summary_BH)

    def _embed(self, x_BTD: Tensor, position_BT: Tensor, segment_BT: Tensor | None) -> Tensor:
        x_BTD = self.stack.embed(x_BTD, position_BT)
        if self.segments_GD is not None:
            x_BTD = x_BTD + (self.segments_GD[:1] if segment_BT is None else self.segments_GD[segment_BT])
        return x_BTD if self.norm is None else self.norm(x_BTD)

    def flops_per_token(self, length: int) -> int:
        pooler = 2 * self.width**2 // length if self.pooler else 0
        return self.stack.flops(length) + pooler
