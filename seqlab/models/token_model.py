"""Ids in, logits over the vocabulary out: the embedding, a backbone and the projection that every token model has."""

import torch
from torch import Tensor, nn

from seqlab.cells.lstm import LstmCell
from seqlab.config import ModelSettings
from seqlab.contracts import Backbone, State, Trace
from seqlab.models.model import Model


class TokenModel(Model):
    """`symbols` counts ids beyond the vocabulary, which are read and never predicted."""

    symbols = 0

    def __init__(self, settings: ModelSettings, backbone: Backbone, vocab_size: int):
        super().__init__()
        self.settings = settings
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size + self.symbols, settings.embedding)
        self.backbone = backbone
        self.narrow = None  # a tied output reads vectors of the embedding's width
        if settings.tie_embeddings and backbone.width != settings.embedding:
            self.narrow = nn.Linear(backbone.width, settings.embedding, bias=False)
        self.output = nn.Linear(
            settings.embedding if settings.tie_embeddings else backbone.width, vocab_size + self.tied_symbols
        )
        if settings.tie_embeddings:
            self.output.weight = self.embedding.weight
        initialize(self, *settings.init_scheme())

    @property
    def tied_symbols(self) -> int:
        """A tied projection has a row for every row of the embedding; those of `symbols` are cut off."""
        return self.symbols if self.settings.tie_embeddings else 0

    def forward(
        self,
        tokens_BT: Tensor,
        state: State | None = None,
        mask_BT: Tensor | None = None,
        trace: Trace | None = None,
    ) -> tuple[Tensor, State]:
        """The logits at every token, and the state after each row's last."""
        y_BTH, after = self.backbone(self.embed(tokens_BT), state, mask_BT, trace)
        return self.project(y_BTH), after

    def flops_per_token(self, length: int) -> int:
        """Multiplications and additions of the forward pass per token, in sequences of `length`."""
        narrowing = 0 if self.narrow is None else self.narrow.weight.numel()
        return self.backbone.flops_per_token(length) + 2 * (narrowing + self.output.weight.numel())

    def embed(self, tokens: Tensor) -> Tensor:
        return self._drop(self.embedding(tokens), self.settings.embedding_dropout)

    def project(self, y: Tensor) -> Tensor:
        y = self._drop(y, self.settings.output_dropout)
        return self.output(y if self.narrow is None else self.narrow(y))[..., : self.vocab_size]


@torch.no_grad()
def make_embedding(words: int, width: int) -> nn.Embedding:
    """Rows of norm about 1: rare words stay small, and a tied projection starts with small logits."""
    embedding = nn.Embedding(words, width)
    embedding.weight.normal_(0, width**-0.5)
    return embedding


@torch.no_grad()
def initialize(model: nn.Module, name: str, scale: float) -> None:
    """Matrices by the named distribution, biases zero; `torch` leaves every layer as torch made it."""
    if name == "torch":
        return
    for parameter_name, parameter in model.named_parameters():
        if parameter.dim() < 2:
            if "bias" in parameter_name:  # gains of norms keep their ones
                parameter.zero_()
        elif name == "orthogonal":
            nn.init.orthogonal_(parameter)
        elif name == "uniform":
            parameter.uniform_(-scale, scale)
        else:
            parameter.normal_(0, scale)
    for module in model.modules():
        if isinstance(module, LstmCell):
            module.init_forget_bias()
