"""The classifier: pools the vectors of a text into one and predicts the label from it."""

import torch
from torch import Tensor

from seqlab.config import ModelSettings, VocabSizes
from seqlab.contracts import Backbone, Recorded, Trace, record
from seqlab.linear import Linear
from seqlab.models.model import Model
from seqlab.models.pooling import POOLING, AttentionPooling, pool
from seqlab.models.token_model import initialize, make_embedding
from seqlab.precision import full


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
        self.output = Linear(backbone.width, sizes.labels)
        initialize(self, *settings.init_scheme())

    @property
    def records(self) -> dict[str, Recorded]:
        return super().records | ({} if self.pooling is None else {"pooling": POOLING})

    def forward(self, tokens_BT: Tensor, mask_BT: Tensor | None = None, trace: Trace | None = None) -> Tensor:
        """The logits_BK of the labels."""
        x_BTD = self._embed(self.embedding, self._hide(tokens_BT))
        y_BTH, _ = self.backbone(record(trace, "embedding", x_BTD), None, mask_BT, trace)
        kept_BT = torch.ones_like(tokens_BT, dtype=torch.bool) if mask_BT is None else mask_BT
        if self.pooling is None:
            pooled_BH = pool(self.pooling_kind, self.backbone, y_BTH, kept_BT)
        else:
            pooled_BH = self.pooling(y_BTH, kept_BT, trace)
        return full(self.output(self._drop(pooled_BH, self.settings.output_dropout)))

    def flops_per_token(self, length: int) -> int:
        pooling = 0 if self.pooling is None else 2 * self.pooling.project.weight.numel()
        return self.backbone.flops_per_token(length) + pooling + 2 * self.output.weight.numel() // length
