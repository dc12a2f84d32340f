"""Compiled engine of the LSTM with attention over its own states."""

from typing import Any

import numpy as np
import torch

from seqlab.backbones.lstm_attention_settings import LstmAttentionSettings
from seqlab.decode.engines.compiled import EngineState, with_kv_capacity
from seqlab.decode.engines.packing import as_numpy, pad_to_tiles
from seqlab.decode.engines.recurrent import LstmEngine, stack_weights
from seqlab.kernels.lstm_attention import COMBINATIONS, SCORES, LstmAttentionKernelState, LstmAttentionWeights
from seqlab.kernels.recurrent import LstmWeights


class LstmAttentionEngine(LstmEngine):
    kernel_state_type = LstmAttentionKernelState
    settings: LstmAttentionSettings

    def start(self, rows: int) -> EngineState:
        recurrent = super().start(rows)
        keys = torch.zeros(rows, self.settings.hidden, 0)
        return EngineState(recurrent.lengths_B, (*recurrent.arrays, keys, keys.transpose(1, 2)))

    def with_capacity(self, state: EngineState, tokens: int) -> EngineState:
        return with_kv_capacity(state, tokens, self.settings.context)

    def pack_weights(self, model: Any) -> Any:
        score, additive = model.backbone.score, self.settings.score == "additive"
        nothing = np.zeros(0, np.float32)
        return LstmAttentionWeights(
            recurrent=LstmWeights(*stack_weights(model, model.backbone.recurrent, self.packer)),
            score=SCORES[self.settings.score],
            combine=COMBINATIONS[self.settings.combine],
            queries=self.packer.matrix(score.from_query.weight) if additive else self.packer.empty_matrix(),
            keys=self.packer.matrix(score.from_key.weight) if additive else self.packer.empty_matrix(),
            key_bias_H=pad_to_tiles(score.from_key.bias) if additive else nothing,
            v_H=as_numpy(score.v_H) if additive else nothing,
        )
