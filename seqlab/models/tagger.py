"""The tagger: a vector for every word in context, and from it the tag, with softmax or a CRF."""

import torch
from torch import Tensor
from torch.nn.functional import embedding

from seqlab.config import ModelSettings, VocabSizes
from seqlab.contracts import Backbone, Trace, record
from seqlab.linear import Linear
from seqlab.models.char_encoder import CharEncoder
from seqlab.models.crf import LinearChain
from seqlab.models.model import Model
from seqlab.models.token_model import initialize, make_embedding
from seqlab.precision import full


class Tagger(Model):
    """A word is one token, optionally with its characters, or several tokens, tagged at the last one."""

    def __init__(
        self,
        settings: ModelSettings,
        backbone: Backbone,
        sizes: VocabSizes,
        spelling: CharEncoder | None,
        chain: bool,
        word_dropout: float,
    ):
        super().__init__(settings, sizes.vocab_size, sizes.unknown, word_dropout)
        self.embedding = make_embedding(sizes.vocab_size, settings.embedding)
        self.spelling = spelling
        self.backbone = backbone
        self.output = Linear(backbone.width, sizes.labels)
        self.chain = LinearChain(sizes.labels) if chain else None
        initialize(self, *settings.init_scheme())

    def forward(
        self,
        tokens_BT: Tensor,
        mask_BT: Tensor | None = None,
        words_BW: Tensor | None = None,
        spellings: tuple[Tensor, Tensor] | None = None,
        ends_BW: Tensor | None = None,
        trace: Trace | None = None,
    ) -> Tensor:
        """The scores_BWK of every tag at every word. `spellings` are characters_NC and their mask; `words_BW` are each
        word's rows in it."""
        x_BTD = self.embedding(self._hide(tokens_BT))
        if self.spelling is not None:
            assert words_BW is not None and spellings is not None
            # `embedding` instead of indexing, whose gradient depends on the order of threads
            x_BTD = torch.cat([x_BTD, embedding(words_BW, self.spelling(*spellings))], dim=2)
        x_BTD = record(trace, "embedding", self._drop(x_BTD, self.settings.embedding_dropout))
        y_BTH, _ = self.backbone(x_BTD, None, mask_BT, trace)
        if ends_BW is not None:
            y_BTH = y_BTH.gather(1, ends_BW[:, :, None].expand(-1, -1, y_BTH.shape[2]))
        return full(self.output(self._drop(y_BTH, self.settings.output_dropout)))

    def flops_per_token(self, length: int) -> int:
        """Without the character encoder, which runs once per distinct word."""
        return self.backbone.flops_per_token(length) + 2 * self.output.weight.numel()
