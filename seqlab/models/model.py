"""The base class of all models: modules around one or two backbones."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from seqlab.config import ModelSettings
from seqlab.contracts import Backbone, Recorded
from seqlab.distributed.rows import rand_rows
from seqlab.dropout import drop, embed_dropped

EMBEDDING = Recorded("state", "what the backbone reads for each token")


class Model(nn.Module, ABC):
    """`backbone` reads the input; a translator also has a decoder. `word_dropout` is the share of tokens that are read
    as unknown during training."""

    backbone: Backbone

    def __init__(self, settings: ModelSettings, vocab_size: int, unknown: int | None = None, word_dropout: float = 0.0):
        super().__init__()
        self.settings = settings
        self.vocab_size = vocab_size
        self.unknown = unknown
        self.word_dropout = word_dropout

    @property
    def records(self) -> dict[str, Recorded]:
        """What it records if it gets a trace, by name."""
        return {"embedding": EMBEDDING, **self.backbone.records}

    @property
    def limit(self) -> int | None:
        """The longest context that it can hold; None if there is no limit."""
        return self.backbone.limit

    @abstractmethod
    def flops_per_token(self, length: int) -> int:
        """Multiplications and additions of the forward pass per token, in sequences of `length`."""

    def core_flops(self, length: int) -> int:
        """`flops_per_token` of the backbones alone."""
        return self.backbone.flops_per_token(length)

    def _hide(self, tokens: Tensor) -> Tensor:
        """Word dropout: during training some tokens become unknown, which trains the embedding of unknown tokens."""
        if not (self.training and self.word_dropout and self.unknown is not None):
            return tokens
        hidden = rand_rows(tokens.shape, tokens.device) < self.word_dropout
        return tokens.masked_fill(hidden, self.unknown)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, gain: float = 1.0) -> Tensor:
        """gain * embedding(tokens), with dropout of embeddings."""
        rate = self.settings.embedding_dropout
        if self.training and rate:
            return embed_dropped(embedding.weight, tokens, rate, gain)
        x = embedding(tokens)
        return x if gain == 1 else x * gain

    def _drop(self, x: Tensor, rate: float | None) -> Tensor:
        """Dropout of what a linear layer reads."""
        return drop(x, rate or 0.0, self.training, contiguous=True)
