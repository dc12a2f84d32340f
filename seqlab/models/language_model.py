"""The language model: the logits after every token are those of the next."""

from typing import Any

import torch
from torch import Tensor

from seqlab.contracts import State, Trace
from seqlab.models.token_model import TokenModel


class LanguageModel(TokenModel):
    """An AutoregressiveModel; its backbone is causal."""

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, State]:
        """A prompt in one pass: the logits after each row's last token, and the state."""
        assert source is None, "a language model has no source"
        longest = tokens_BT.shape[1]
        ragged = bool((lengths_B < longest).any())
        mask_BT = torch.arange(longest, device=tokens_BT.device) < lengths_B[:, None] if ragged else None
        y_BTH, state = self.backbone(self.embed(tokens_BT), None, mask_BT)
        last_BH = y_BTH[torch.arange(len(y_BTH), device=y_BTH.device), lengths_B - 1]
        return self.project(last_BH), state

    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        y_BH, after = self.backbone.step(self.embed(token_B), state, trace)
        return self.project(y_BH), after
