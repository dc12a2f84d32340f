"""Compiled engine of the LSTM with attention over its own states."""

from typing import Any

import numpy as np
import torch

from seqlab.decode.engines.compiled import EngineState, with_kv_capacity
from seqlab.decode.engines.packing import as_numpy, pad_to_tiles
from seqlab.decode.engines.recurrent import LstmEngine, lstm_weights
from seqlab.kernels.lstm_attention import (
    ADD,
    ADDITIVE,
    CONCAT,
    CONTEXT,
    DOT,
    SCALED,
    LstmAttentionKernelState,
    LstmAttentionWeights,
)

SCORES = {"additive": ADDITIVE, "dot": DOT, "scaled": SCALED}
COMBINED = {"concat": CONCAT, "context": CONTEXT, "add": ADD}


class LstmAttentionEngine(LstmEngine):
    kernel_state_type = LstmAttentionKernelState

    def start(self, rows: int) -> EngineState:
        recurrent = super().start(rows)
        keys = torch.zeros(rows, self.hidden, 0)
        return EngineState(recurrent.lengths_B, (*recurrent.arrays, keys, keys.transpose(1, 2)))

    def with_capacity(self, state: EngineState, tokens: int) -> EngineState:
        return with_kv_capacity(state, tokens, self.context)

    def pack_weights(self, model: Any) -> Any:
        settings, score = model.backbone.settings, model.backbone.score
        self.context = settings.context
        additive = settings.score == "additive"
        nothing = np.zeros(0, np.float32)
        return LstmAttentionWeights(
            recurrent=lstm_weights(model, model.backbone.recurrent, self.packer),
            score=SCORES[settings.score],
            combine=COMBINED[settings.combine],
            queries=self.packer.matrix(score.from_query.weight) if additive else self.packer.empty_matrix(),
            keys=self.packer.matrix(score.from_key.weight) if additive else self.packer.empty_matrix(),
            key_bias_H=pad_to_tiles(score.from_key.bias) if additive else nothing,
            v_H=as_numpy(score.v_H) if additive else nothing,
        )
