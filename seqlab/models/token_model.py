"""Models whose output is logits over a vocabulary: embedding, backbone, and a projection that may be tied."""

import torch
from torch import Tensor, nn

from seqlab.backbones.transformer import Block
from seqlab.cells.lstm import LstmCell
from seqlab.config import ModelSettings
from seqlab.contracts import Backbone, State, Trace, record
from seqlab.linear import Linear
from seqlab.models.model import Model
from seqlab.precision import full


class VocabularyModel(Model):
    """What token models and translators share: the projection to logits."""

    embedding: nn.Embedding
    embedding_scale: float = 1.0

    def make_output(self, width: int) -> None:
        """The projection from vectors of this width. If it is tied, it has a row for every row of the embedding."""
        settings, tied = self.settings, self.settings.tie_embeddings
        # A tied projection needs vectors as wide as the embedding, and of another kind: residual connections bring the
        # input itself to the output, which would predict the token that was just read (Devlin et al. 2018 do the same).
        self.narrow = Linear(width, settings.embedding, bias=False) if tied else None
        rows = self.embedding.num_embeddings if tied else self.vocab_size
        self.output = Linear(settings.embedding if tied else width, rows)
        if tied:
            self.output.weight = self.embedding.weight

    @property
    def input_vectors_VD(self) -> Tensor:
        """What the backbone reads for every token, without dropout."""
        return self.embedding.weight * self.embedding_scale

    def embed(self, tokens: Tensor) -> Tensor:
        return self._embed(self.embedding, tokens, self.embedding_scale)

    def project(self, y: Tensor) -> Tensor:
        y = self._drop(y, self.settings.output_dropout)
        logits = full(self.output(y if self.narrow is None else self.narrow(y)))[..., : self.vocab_size]
        cap = self.settings.logit_cap
        return logits if cap is None else cap * torch.tanh(logits / cap)

    def last_logits(self, y_BTH: Tensor, lengths_B: Tensor) -> Tensor:
        """The logits at each row's last position."""
        return self.project(y_BTH[torch.arange(len(y_BTH), device=y_BTH.device), lengths_B - 1])

    def flops_per_token(self, length: int) -> int:
        narrowing = 0 if self.narrow is None else self.narrow.weight.numel()
        return self.core_flops(length) + 2 * (narrowing + self.output.weight.numel())


class TokenModel(VocabularyModel):
    """`symbols` counts ids beyond the vocabulary, which are read but never predicted."""

    symbols = 0

    def __init__(self, settings: ModelSettings, backbone: Backbone, vocab_size: int):
        super().__init__(settings, vocab_size)
        rows = vocab_size + self.symbols
        if settings.tie_embeddings and settings.initialization == "torch":
            self.embedding = make_embedding(rows, settings.embedding)
            self.embedding_scale = settings.embedding**0.5  # as in a translator
        else:
            self.embedding = nn.Embedding(rows, settings.embedding)
        self.backbone = backbone
        self.make_output(backbone.width)
        initialize(self, *settings.init_scheme())

    def forward(
        self, tokens_BT: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, State]:
        """The logits at every token, and the state after each row's last."""
        x_BTD = record(trace, "embedding", self.embed(tokens_BT))
        y_BTH, after = self.backbone(x_BTD, state, mask_BT, trace)
        return self.project(y_BTH), after

    def start(self, batch: int) -> State:
        """The state before the first token."""
        return self.backbone.start(batch)

    def start_limited(self, batch: int, context: int) -> State:
        """A start state from which attention sees at most `context` positions; recurrence is not limited."""
        return self.backbone.start_limited(batch, context)


@torch.no_grad()
def make_embedding(words: int, width: int) -> nn.Embedding:
    """Rows of norm about 1: embeddings of rare words stay small, and a tied projection starts with small logits."""
    embedding = nn.Embedding(words, width)
    embedding.weight.normal_(0, width**-0.5)
    return embedding


@torch.no_grad()
def initialize(model: nn.Module, name: str, scale: float) -> None:
    """Draw matrices from the named distribution and set biases to zero; "torch" keeps torch's initialization."""
    if name == "torch":
        return
    for parameter_name, parameter in model.named_parameters():
        if parameter.dim() < 2:
            if "bias" in parameter_name:  # the gains of norms stay 1
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
        elif isinstance(module, Block):
            module.init_outputs()
