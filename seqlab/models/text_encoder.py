"""The text encoder: one vector for a whole text, compared with others by the cosine."""

import torch
from torch import Tensor, nn

from seqlab.config import ModelSettings, VocabSizes
from seqlab.contracts import Backbone, Recorded, Trace, record
from seqlab.linear import Linear
from seqlab.models.model import Model
from seqlab.models.pooling import POOLING, AttentionPooling, TokenPooling, make_pooling, pool
from seqlab.models.token_model import initialize, make_embedding
from seqlab.precision import full


class TextEncoder(Model):
    """
    vector = P pool(y) + Σ_t a_t x_t      y: the outputs of the backbone, x: the embeddings, a: learned token weights

    `pooling`: mean, last, max, attention, or sif (learned weights of tokens, from their frequency on).
    `residual`: with the second term. P is zero at first: an untrained encoder is the weighted mean of its embeddings,
    and the backbone learns what to add to it.
    `dimensions`: the width of a vector, by a projection; None: of the embedding with `residual`, else of the backbone.
    """

    def __init__(
        self,
        settings: ModelSettings,
        backbone: Backbone,
        sizes: VocabSizes,
        pooling: str,
        dimensions: int | None,
        word_dropout: float = 0.0,
        residual: bool = False,
    ):
        super().__init__(settings, sizes.vocab_size, sizes.unknown, word_dropout)
        self.embedding = make_embedding(sizes.vocab_size, settings.embedding)
        self.backbone = backbone
        self.pooling_kind = pooling
        self.pooling = make_pooling(pooling, backbone.width, sizes.vocab_size)
        dimensions = settings.embedding if residual and dimensions is None else dimensions
        self.projection = None if dimensions is None else Linear(backbone.width, dimensions, bias=False)
        self.residual = TokenPooling(sizes.vocab_size, "residual") if residual else None
        initialize(self, *settings.init_scheme())
        if residual:
            assert self.projection is not None and dimensions == settings.embedding
            nn.init.zeros_(self.projection.weight)

    @property
    def records(self) -> dict[str, Recorded]:
        weights = {"pooling": self.pooling, "residual": self.residual}
        return super().records | {name: POOLING for name, module in weights.items() if module is not None}

    @property
    def dimensions(self) -> int:
        return self.backbone.width if self.projection is None else self.projection.out_features

    def forward(self, tokens_BT: Tensor, mask_BT: Tensor | None = None, trace: Trace | None = None) -> Tensor:
        """The vectors_BD, not normalized; zeros for a row without tokens."""
        kept_BT = torch.ones_like(tokens_BT, dtype=torch.bool) if mask_BT is None else mask_BT
        filled_B = kept_BT.any(1)
        if mask_BT is not None:  # an empty row would be 0/0: it reads its padding, and becomes zeros below
            first_T = torch.arange(kept_BT.shape[1], device=kept_BT.device) == 0
            mask_BT = kept_BT = kept_BT | (first_T & ~filled_B[:, None])
        x_BTD = self._embed(self.embedding, self._hide(tokens_BT))
        y_BTH, _ = self.backbone(record(trace, "embedding", x_BTD), None, mask_BT, trace)
        pooled_BH = self._drop(self._pool(tokens_BT, y_BTH, kept_BT, trace), self.settings.output_dropout)
        vectors_BD = pooled_BH if self.projection is None else self.projection(pooled_BH)
        if self.residual is not None:
            vectors_BD = vectors_BD + self.residual(tokens_BT, x_BTD, kept_BT, trace)
        return full(vectors_BD) * filled_B[:, None]

    def _pool(self, tokens_BT: Tensor, y_BTH: Tensor, kept_BT: Tensor, trace: Trace | None) -> Tensor:
        match self.pooling:
            case AttentionPooling():
                return self.pooling(y_BTH, kept_BT, trace)
            case TokenPooling():
                return self.pooling(tokens_BT, y_BTH, kept_BT, trace)
            case _:
                return pool(self.pooling_kind, self.backbone, y_BTH, kept_BT)

    def flops_per_token(self, length: int) -> int:
        pooling = 2 * self.pooling.project.weight.numel() if isinstance(self.pooling, AttentionPooling) else 0
        projection = 0 if self.projection is None else 2 * self.projection.weight.numel()
        return self.backbone.flops_per_token(length) + pooling + projection // length
