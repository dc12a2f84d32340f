"""Compiled engine of the Transformer. Its KV cache grows up to the context and then becomes a ring buffer."""

from typing import Any

import numpy as np
import torch
from torch import nn

from seqlab.attention.positions import angles
from seqlab.backbones.transformer_settings import TransformerSettings
from seqlab.decode.engines.compiled import CompiledEngine, EngineState, with_kv_capacity
from seqlab.decode.engines.packing import as_numpy, stack_layers
from seqlab.kernels.transformer import ACTIVATIONS, POSITIONS, Norms, TransformerKernelState, TransformerWeights


class TransformerEngine(CompiledEngine):
    kernel_state_type = TransformerKernelState
    settings: TransformerSettings

    def start(self, rows: int) -> EngineState:
        keys = torch.zeros(rows, self.settings.layers, self.settings.hidden, 0)
        return EngineState(torch.zeros(rows, dtype=torch.long), (keys, keys.transpose(2, 3)))

    def with_capacity(self, state: EngineState, tokens: int) -> EngineState:
        return with_kv_capacity(state, tokens, self.settings.context)

    def pack_weights(self, model: Any) -> TransformerWeights:
        settings, stack = self.settings, model.backbone.stack
        blocks, D = list(stack.blocks), settings.hidden
        learned = stack.positions.table if settings.positions == "learned" else torch.zeros(0, D)
        width = D // settings.heads if settings.positions == "rotary" else D
        return TransformerWeights(
            table_VD=as_numpy(input_embeddings(model)),
            position_PD=as_numpy(learned),
            frequency_F=angles(torch.ones(1, 1), width)[0, 0].numpy(),
            positions=POSITIONS[settings.positions],
            heads=settings.heads,
            qkv=self.packer.layers([block.attention.into.weight for block in blocks]),
            qkv_LG=stack_layers([block.attention.into.bias for block in blocks], 3 * D),
            out=self.packer.layers([block.attention.out.weight for block in blocks]),
            out_LD=stack_layers([block.attention.out.bias for block in blocks], D),
            up=self.packer.layers([block.feedforward.up.weight for block in blocks]),
            up_LG=stack_layers([block.feedforward.up.bias for block in blocks], settings.inner),
            down=self.packer.layers([block.feedforward.down.weight for block in blocks]),
            down_LD=stack_layers([block.feedforward.down.bias for block in blocks], D),
            inner=settings.inner,
            activation=ACTIVATIONS[settings.activation],
            norms=_norms([norm for block in blocks for norm in block.norms], stack.last),
            norm_before=settings.norm_position == "before",
            qk_norm=settings.qk_norm,
        )


def input_embeddings(model: Any) -> torch.Tensor:
    """The input of the first layer for every token, before positions."""
    stack, settings = model.backbone.stack, model.backbone.settings
    with torch.no_grad():
        x_VD = model.input_vectors_VD if stack.enter is None else stack.enter(model.input_vectors_VD)
        return x_VD * (settings.hidden**0.5 if settings.scale_input else 1.0)


def _norms(norms: list[nn.Module], last: nn.Module | None) -> Norms:
    every: list[Any] = [*norms, *([] if last is None else [last])]
    centered = isinstance(every[0], nn.LayerNorm)
    gain_ND = np.stack([as_numpy(norm.weight) for norm in every])
    bias_ND = np.stack([as_numpy(norm.bias) for norm in every]) if centered else np.zeros_like(gain_ND)
    return Norms(gain_ND, bias_ND, float(every[0].eps), centered)
