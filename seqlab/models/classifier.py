"""The classifier: pools the vectors of a text into one and predicts the label from it."""

import torch
from torch import Tensor, nn

from seqlab.config import ModelSettings, VocabSizes
from seqlab.contracts import Backbone, Recorded, Trace, record
from seqlab.models.model import Model
from seqlab.models.token_model import initialize, make_embedding


class Classifier(Model):
    """`pooling`: the last output (of each direction), the mean, the maximum, or learned attention weights."""

    def __init__(
        self, settings: ModelSettings, backbone: Backbone, sizes: VocabSizes, pooling: str, word_dropout: float
    ):
        super().__init__(settings, sizes.vocab_size, sizes.unknown, word_dropout)
        self.embedding = make_embedding(sizes.vocab_size, settings.embedding)
        self.backbone = backbone
        self.pooling = AttentionPooling(backbone.width) if pooling == "attention" else None
        self.pooling_kind = pooling
        self.output = nn.Linear(backbone.width, sizes.labels)
        initialize(self, *settings.init_scheme())

    @property
    def records(self) -> dict[str, Recorded]:
        weights = Recorded("pooling", "the weight of each position in the mean")
        return super().records | ({} if self.pooling is None else {"pooling": weights})

    def forward(self, tokens_BT: Tensor, mask_BT: Tensor | None = None, trace: Trace | None = None) -> Tensor:
        """The logits_BK of the labels."""
        x_BTD = self._drop(self.embedding(self._hide(tokens_BT)), self.settings.embedding_dropout)
        y_BTH, _ = self.backbone(record(trace, "embedding", x_BTD), None, mask_BT, trace)
        kept_BT = torch.ones_like(tokens_BT, dtype=torch.bool) if mask_BT is None else mask_BT
        pooled_BH = self._pool(y_BTH, kept_BT, trace)
        return self.output(self._drop(pooled_BH, self.settings.output_dropout))

    def _pool(self, y_BTH: Tensor, kept_BT: Tensor, trace: Trace | None) -> Tensor:
        if self.pooling is not None:
            return self.pooling(y_BTH, kept_BT, trace)
        match self.pooling_kind:
            case "last":
                return self.backbone.summarize(y_BTH, kept_BT)
            case "mean":
                return (y_BTH * kept_BT[:, :, None]).sum(1) / kept_BT.sum(1, keepdim=True)
            case "max":
                return y_BTH.masked_fill(~kept_BT[:, :, None], -torch.inf).amax(1)
        raise AssertionError(self.pooling_kind)

    def flops_per_token(self, length: int) -> int:
        pooling = 0 if self.pooling is None else 2 * self.pooling.project.weight.numel()
        return self.backbone.flops_per_token(length) + pooling + 2 * self.output.weight.numel() // length


class AttentionPooling(nn.Module):
    """Σ_t a_t y_t, a = softmax(v · tanh(W y + b)) (Lin et al. 2017, with one row of weights)"""

    def __init__(self, width: int):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.v_H = nn.Parameter(torch.empty(width).uniform_(-(width**-0.5), width**-0.5))

    def forward(self, y_BTH: Tensor, kept_BT: Tensor, trace: Trace | None = None) -> Tensor:
        scores_BT = torch.tanh(self.project(y_BTH)) @ self.v_H
        weights_BT = scores_BT.masked_fill(~kept_BT, -torch.inf).softmax(1)
        weights_BT = record(trace, "pooling", weights_BT)
        return (weights_BT[:, None] @ y_BTH)[:, 0]
