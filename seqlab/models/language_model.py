"""The language model: the logits at every token predict the next one, alone or mixed with counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from seqlab.contracts import State, Trace, record
from seqlab.mixing.mixture import MixedState, Mixture, count_predictions, last_prediction
from seqlab.models.token_model import TokenModel

PREFILL_TOKENS = 2048  # of all rows in one forward pass: attention takes memory for every pair of them


class LanguageModel(TokenModel):
    """An AutoregressiveModel; its backbone is causal. With a mixture, its logits are those of network and counts."""

    mixture: Mixture | None = None  # fitted after training

    @contextmanager
    def without_mixture(self) -> Iterator[None]:
        """While this is open, the logits are those of the network alone."""
        mixture, self.mixture = self.mixture, None
        try:
            yield
        finally:
            self.mixture = mixture

    def start(self, batch: int) -> State:
        state = super().start(batch)
        return state if self.mixture is None else self.mixture.start(state)

    def start_limited(self, batch: int, context: int) -> State:
        state = super().start_limited(batch, context)
        return state if self.mixture is None else self.mixture.start(state)

    def forward(
        self, tokens_BT: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, State]:
        if self.mixture is None:
            return super().forward(tokens_BT, state, mask_BT, trace)
        before = state if state is not None else self.start(len(tokens_BT))
        assert isinstance(before, MixedState)
        logits_BTV, network = super().forward(tokens_BT, before.network, mask_BT, trace)
        counts, contexts_BK = count_predictions(self.mixture.table, tokens_BT, before.contexts_BK, mask_BT)
        return self.mixture.mix(logits_BTV, counts), MixedState(network.lengths_B, network, contexts_BK)

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
        if self.mixture is None:
            return self.project(last_BH), state
        before = self.mixture.start(state)
        counts, contexts_BK = last_prediction(self.mixture.table, tokens_BT, lengths_B, before.contexts_BK)
        return self.mixture.mix(self.project(last_BH), counts), MixedState(state.lengths_B, state, contexts_BK)

    def step(self, token_B: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        x_BD = record(trace and trace.step(0), "embedding", self.embed(token_B))
        if self.mixture is None:
            y_BH, after = self.backbone.step(x_BD, state, trace)
            return self.project(y_BH), after
        assert isinstance(state, MixedState)
        y_BH, network = self.backbone.step(x_BD, state.network, trace)
        counts, contexts_BK = count_predictions(self.mixture.table, token_B[:, None], state.contexts_BK)
        return self.mixture.mix(self.project(y_BH), counts), MixedState(network.lengths_B, network, contexts_BK)

    def flops_per_token(self, length: int) -> int:
        return super().flops_per_token(length) + (0 if self.mixture is None else self.mixture.flops_per_token)
