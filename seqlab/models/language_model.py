"""The language model: the logits at every token predict the next one."""

from typing import Any

import torch
from torch import Tensor

from seqlab.contracts import State, Trace, record
from seqlab.models.token_model import TokenModel

PREFILL_TOKENS = 2048  # of all rows in one forward pass: attention takes memory for every pair of them


class LanguageModel(TokenModel):
    """An AutoregressiveModel; its backbone is causal."""

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, State]:
        """Prefill: the logits after each row's last token, and the state. Long prompts are read in chunks."""
        assert source is None, "a language model has no source"
        size = max(1, PREFILL_TOKENS // len(tokens_BT)) if self.backbone.carries else tokens_BT.shape[1]
        state, last_BH = None, None
        for first in range(0, tokens_BT.shape[1], size):
            chunk_BT = tokens_BT[:, first : first + size]
            kept_B = (lengths_B - first).clamp(0, chunk_BT.shape[1])
            ragged = bool((kept_B < chunk_BT.shape[1]).any())
            mask_BT = torch.arange(chunk_BT.shape[1], device=kept_B.device) < kept_B[:, None] if ragged else None
            y_BTH, state = self.backbone(self.embed(chunk_BT), state, mask_BT)
            y_BH = y_BTH[torch.arange(len(y_BTH), device=kept_B.device), (kept_B - 1).clamp(min=0)]
            last_BH = y_BH if last_BH is None else torch.where((kept_B > 0)[:, None], y_BH, last_BH)
        assert state is not None and last_BH is not None, "a prompt has at least one token"
        return self.project(last_BH), state

    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        x_BD = record(trace and trace.step(0), "embedding", self.embed(token_B))
        y_BH, after = self.backbone.step(x_BD, state, trace)
        return self.project(y_BH), after
