"""LSTM with attention over its own states: each position attends to all states up to its own, or, if it reads in both
directions, to all states of its text.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from seqlab.attention.fast import attend_fast
from seqlab.attention.kv_cache import append, keep_last
from seqlab.attention.masks import Ranges, causal, everything
from seqlab.attention.plain import attend
from seqlab.attention.scores import make_score
from seqlab.backbones.lstm_attention_settings import LstmAttentionSettings
from seqlab.backbones.recurrent import Lstm, RecurrentState
from seqlab.contracts import Backbone, Memory, Recorded, State, Trace, record
from seqlab.precision import full


@dataclass(frozen=True)
class LstmAttentionState(State):
    """The LSTM's state, and its hidden states so far as values and, projected, as keys."""

    recurrent: RecurrentState
    states_BSH: Tensor
    keys_BSK: Tensor
    context: int | None  # the most states that a position of this sequence sees


class LstmAttention(Backbone):
    """
    h = LSTM(x), or [LSTM(x); LSTM(x from right to left)]     the states of all positions
    a_ts = softmax_s score(h_t, h_s)                          over s ≤ t, or over all s
    c_t = Σ_s a_ts h_s                                        the context
    y_t = [h_t; c_t], c_t or h_t + c_t
    """

    Settings = LstmAttentionSettings
    fast = f"{Lstm.fast}, then our compiled attention"
    compiled_engine = "seqlab.decode.engines.lstm_attention:LstmAttentionEngine"
    onnx_backbone = "seqlab.exporters.onnx.lstm_attention:LstmAttentionOnnx"
    settings: LstmAttentionSettings

    def __init__(self, settings: LstmAttentionSettings, inputs: int):
        super().__init__(settings, inputs)
        self.recurrent = Lstm(settings.recurrent, inputs)
        self.score = make_score(settings.score, self.recurrent.width, self.recurrent.width, settings.hidden)

    @property
    def records(self) -> dict[str, Recorded]:
        return self.recurrent.records | {
            "attention.scores": Recorded("scores", "score(h_t, h_s), how well each state matches"),
            "attention.weights": Recorded("attention", "softmax of the scores: which states it looks at"),
            "attention.context": Recorded("state", "c, the states, weighted"),
        }

    def start(self, batch: int, memory: Memory | None = None) -> LstmAttentionState:
        assert memory is None, "it attends to its own states only"
        recurrent = self.recurrent.start(batch)
        states_BSH = next(self.parameters()).new_zeros(batch, 0, self.recurrent.width)
        keys_BSK = states_BSH.new_zeros(batch, 0, self.settings.key_width)
        return LstmAttentionState(recurrent.lengths_B, recurrent, states_BSH, keys_BSK, self.settings.context)

    def start_limited(self, batch: int, context: int) -> LstmAttentionState:
        return replace(self.start(batch), context=min(context, self.settings.context or context))

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, LstmAttentionState]:
        before = state if state is not None else self.start(len(x_BTD))
        assert isinstance(before, LstmAttentionState)
        h_BTH, recurrent = self.recurrent(x_BTD, before.recurrent, mask_BT, trace)
        h_BTH = h_BTH.contiguous()  # torch's recurrent kernels return time-major memory
        context = before.context
        held_B = before.lengths_B if context is None else before.lengths_B.clamp(max=context)
        states_BSH = append(before.states_BSH, h_BTH, held_B)
        keys_BSK = append(before.keys_BSK, self.score.project_keys(h_BTH), held_B)
        new_B, T = held_B + (recurrent.lengths_B - before.lengths_B), h_BTH.shape[1]
        ranges = causal(held_B, T, context) if self.causal else everything(new_B, T)
        context_BTH = full(self._attend(h_BTH, keys_BSK, states_BSH, ranges, trace and trace.within("attention")))
        states_BSH, keys_BSK = keep_last(states_BSH, new_B, context), keep_last(keys_BSK, new_B, context)
        after = LstmAttentionState(recurrent.lengths_B, recurrent, states_BSH, keys_BSK, context)
        return self._combine(h_BTH, context_BTH), after

    def query(self, state: LstmAttentionState) -> Tensor:
        return self.recurrent.query(state.recurrent)

    def summarize(self, y_BTH: Tensor, mask_BT: Tensor) -> Tensor:
        """State and context where each direction ends."""
        parts = y_BTH.split(self.recurrent.width, dim=2)
        return torch.cat([self.recurrent.summarize(part_BTH, mask_BT) for part_BTH in parts], dim=1)

    def _attend(
        self, h_BTH: Tensor, keys_BSK: Tensor, states_BSH: Tensor, ranges: Ranges, trace: Trace | None
    ) -> Tensor:
        q_BTK = self.score.project_queries(h_BTH)
        if trace is None and not self.settings.plain:
            return attend_fast(self.score, q_BTK, keys_BSK, states_BSH, ranges)
        mask_BTS = ranges.mask(keys_BSK.shape[1])
        attended = attend(self.score.of_projected(q_BTK, keys_BSK), states_BSH, mask_BTS, trace)
        return record(trace, "context", attended.output_BTD)

    def _combine(self, h_BTH: Tensor, context_BTH: Tensor) -> Tensor:
        match self.settings.combine:
            case "concat":
                return torch.cat([h_BTH, context_BTH], dim=2)
            case "context":
                return context_BTH
            case "add":
                return h_BTH + context_BTH

    def state_bytes(self, length: int) -> int:
        size = next(self.parameters()).element_size()
        kept = length if self.settings.context is None else min(length, self.settings.context)
        return self.recurrent.state_bytes(length) + kept * (self.recurrent.width + self.settings.key_width) * size

    def flops_per_token(self, length: int) -> int:
        """The recurrence, the projections, and scores and weighted sum over all visible states."""
        seen = min(length, self.settings.context or length)
        projections = sum(2 * p.numel() for p in self.score.parameters() if p.dim() == 2)
        pairs = 2 * seen * (self.settings.key_width + self.recurrent.width)
        return self.recurrent.flops_per_token(length) + projections + pairs
