"""The base class of all models: modules around one or two backbones."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from seqlab.config import ModelSettings
from seqlab.contracts import Backbone


class Model(nn.Module, ABC):
    """`backbone` reads the input; a translator has a decoder beside it."""

    settings: ModelSettings
    backbone: Backbone
    vocab_size: int
    unknown: int | None = None
    word_dropout: float = 0.0  # share of tokens that are read as unknown while training

    @property
    def limit(self) -> int | None:
        """The longest context it can hold; None where there is no end."""
        return self.backbone.limit

    @abstractmethod
    def flops_per_token(self, length: int) -> int:
        """Multiplications and additions of the forward pass per token, in sequences of `length`."""

    def core_flops(self, length: int) -> int:
        """Of the backbones alone."""
        return self.backbone.flops_per_token(length)

    def _hide(self, tokens: Tensor) -> Tensor:
        """Word dropout: while training, some tokens read as unknown, which trains the unknown embedding."""
        if not (self.training and self.word_dropout and self.unknown is not None):
            return tokens
        hidden = torch.rand(tokens.shape, device=tokens.device) < self.word_dropout
        return tokens.masked_fill(hidden, self.unknown)

    def _drop(self, x: Tensor, share: float) -> Tensor:
        return dropout(x, share, self.training) if share else x
