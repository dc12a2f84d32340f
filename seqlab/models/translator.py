"""The translator: an encoder reads the source, a decoder generates the target and attends to the source."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqlab.backbones.attention_decoder import make_memory
from seqlab.config import ModelSettings, VocabSizes
from seqlab.contracts import Backbone, Memory, Recorded, State, TensorTree, Trace, record
from seqlab.models.model import EMBEDDING
from seqlab.models.token_model import VocabularyModel, initialize, make_embedding
from seqlab.tracing import prefixed


@dataclass(frozen=True)
class SourceBatch(TensorTree):
    """Source texts as ids, and which positions are kept."""

    tokens_BS: Tensor
    mask_BS: Tensor


class Translator(VocabularyModel):
    """An AutoregressiveModel with a source. `joint`: both sides share one embedding."""

    def __init__(
        self,
        settings: ModelSettings,
        encoder: Backbone,
        decoder: Backbone,
        sizes: VocabSizes,
        joint: bool,
        word_dropout: float = 0.0,
    ):
        super().__init__(settings, sizes.target, sizes.unknown, word_dropout)
        self.source_embedding = make_embedding(sizes.vocab_size, settings.embedding)
        self.embedding = self.source_embedding if joint else make_embedding(sizes.target, settings.embedding)
        # a tied projection works best with rows of norm 1, backbones with components of about 1 (Vaswani et al. 2017)
        self.embedding_scale = settings.embedding**0.5
        self.backbone, self.decoder = encoder, decoder
        self.make_output(decoder.width)
        initialize(self, *settings.init_scheme())

    @property
    def records(self) -> dict[str, Recorded]:
        source = prefixed("encoder", super().records)
        return source | {"embedding": EMBEDDING, **self.decoder.records}

    @property
    def limit(self) -> int | None:
        return self.decoder.limit

    def encode(self, source: SourceBatch, trace: Trace | None = None) -> Memory:
        """The source as the decoder reads it."""
        trace = trace and trace.within("encoder")
        x_BSD = self._embed(self.source_embedding, self._hide(source.tokens_BS), self.embedding_scale)
        x_BSD = record(trace, "embedding", x_BSD)
        mask_BS = None if bool(source.mask_BS.all()) else source.mask_BS
        y_BSH, _ = self.backbone(x_BSD, None, mask_BS, trace)
        return make_memory(self.backbone, y_BSH, source.mask_BS)

    def start(self, source: SourceBatch, trace: Trace | None = None) -> State:
        return self.decoder.start(len(source.tokens_BS), self.encode(source, trace))

    def forward(
        self, source: SourceBatch, inputs_BT: Tensor, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> Tensor:
        """The logits after every token of the target."""
        x_BTD = record(trace, "embedding", self.embed(inputs_BT))
        y_BTH, _ = self.decoder(x_BTD, self.start(source, trace), mask_BT, trace)
        return self.project(y_BTH)

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: SourceBatch | None = None) -> tuple[Tensor, State]:
        """Prefill: the logits after each row's last target token, and the state."""
        assert source is not None, "a translator needs a source"
        mask_BT = torch.arange(tokens_BT.shape[1], device=tokens_BT.device) < lengths_B[:, None]
        y_BTH, state = self.decoder(self.embed(tokens_BT), self.start(source), mask_BT)
        return self.last_logits(y_BTH, lengths_B), state

    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        x_BD = record(trace and trace.step(0), "embedding", self.embed(token_B))
        y_BH, after = self.decoder.step(x_BD, state, trace)
        return self.project(y_BH), after

    def core_flops(self, length: int) -> int:
        """For one token on each side, in texts of `length`."""
        return self.backbone.flops_per_token(length) + self.decoder.flops_per_token(length)
