"""The language model: embedding, backbone, projection to the next token's logits."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from seqlab.cells.lstm import LstmCell
from seqlab.config import ModelSettings
from seqlab.contracts import Backbone, State, Trace
from seqlab.errors import UsageError


class LanguageModel(nn.Module):
    """What decoders call a Generator. `limit` is the longest context it can hold, None where there is no end."""

    def __init__(self, settings: ModelSettings, backbone: Backbone, vocabulary: int):
        super().__init__()
        if not backbone.causal:
            raise UsageError(
                "a language model predicts what comes next, and this architecture reads ahead, so it would only copy: "
                "use a causal one (backbone.bidirectional=false)."
            )
        self.settings = settings
        self.vocabulary = vocabulary
        self.embedding = nn.Embedding(vocabulary, settings.embedding)
        self.backbone = backbone
        self.narrow = None  # a tied output reads vectors of the embedding's width
        if settings.tied and backbone.width != settings.embedding:
            self.narrow = nn.Linear(backbone.width, settings.embedding, bias=False)
        self.output = nn.Linear(settings.embedding if settings.tied else backbone.width, vocabulary)
        if settings.tied:
            self.output.weight = self.embedding.weight
        initialise(self, *settings.init_scheme())

    @property
    def limit(self) -> int | None:
        return getattr(self.backbone, "limit", None)

    def forward(
        self,
        tokens_BT: Tensor,
        state: State | None = None,
        mask_BT: Tensor | None = None,
        trace: Trace | None = None,
    ) -> tuple[Tensor, State]:
        """The logits after every token, and the state after each row's last."""
        y_BTH, after = self.backbone(self._embed(tokens_BT), state, mask_BT, trace)
        return self._project(y_BTH), after

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, State]:
        """A prompt in one pass: the logits after each row's last token, and the state."""
        assert source is None, "a language model has no source"
        longest = tokens_BT.shape[1]
        ragged = bool((lengths_B < longest).any())
        mask_BT = torch.arange(longest, device=tokens_BT.device) < lengths_B[:, None] if ragged else None
        y_BTH, state = self.backbone(self._embed(tokens_BT), None, mask_BT)
        last_BH = y_BTH[torch.arange(len(y_BTH), device=y_BTH.device), lengths_B - 1]
        return self._project(last_BH), state

    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        y_BH, after = self.backbone.step(self._embed(token_B), state, trace)
        return self._project(y_BH), after

    def _embed(self, tokens: Tensor) -> Tensor:
        return self._drop(self.embedding(tokens), self.settings.embedding_dropout)

    def _project(self, y: Tensor) -> Tensor:
        y = self._drop(y, self.settings.output_dropout)
        return self.output(y if self.narrow is None else self.narrow(y))

    def _drop(self, x: Tensor, share: float) -> Tensor:
        return dropout(x, share, self.training) if share else x


@torch.no_grad()
def initialise(model: nn.Module, name: str, scale: float) -> None:
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
            module.remember_at_first()
