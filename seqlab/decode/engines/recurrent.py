"""Compiled engines of RNN, GRU and LSTM."""

from typing import Any

import torch
from torch import Tensor

from seqlab.decode.engines.compiled import CompiledEngine, EngineState
from seqlab.decode.engines.packing import WeightPacker, pad_to_tiles, stack_layers
from seqlab.kernels.recurrent import (
    RELU,
    SIGMOID,
    TANH,
    GruWeights,
    HiddenKernelState,
    LstmKernelState,
    LstmWeights,
    RnnWeights,
)
from seqlab.models.token_model import TokenModel

ACTIVATIONS = {"tanh": TANH, "relu": RELU, "sigmoid": SIGMOID}


class RecurrentEngine(CompiledEngine):
    vectors = 1  # state vectors of a layer
    kernel_state_type = HiddenKernelState

    def __init__(self, model: TokenModel):
        settings: Any = model.backbone.settings
        self.layers, self.hidden = settings.layers, settings.hidden
        super().__init__(model)

    def start(self, rows: int) -> EngineState:
        arrays = tuple(torch.zeros(rows, self.layers, self.hidden) for _ in range(self.vectors))
        return EngineState(torch.zeros(rows, dtype=torch.long), arrays)


class RnnEngine(RecurrentEngine):
    def pack_weights(self, model: Any) -> RnnWeights:
        settings, cells = model.backbone.settings, list(model.backbone.cells)
        table, inputs, bias = input_projection(
            model, cells, [cell.bias_ih + cell.bias_hh for cell in cells], self.packer
        )
        states = self.packer.layers([cell.weight_hh for cell in cells])
        return RnnWeights(table, inputs, bias, states, settings.residual, ACTIVATIONS[settings.activation])


class GruEngine(RecurrentEngine):
    def pack_weights(self, model: Any) -> GruWeights:
        settings, cells = model.backbone.settings, list(model.backbone.cells)
        twice = 2 * self.hidden
        biases = [cell.bias_ih + torch.cat([cell.bias_hh[:twice], 0 * cell.bias_hh[twice:]]) for cell in cells]
        return GruWeights(
            *input_projection(model, cells, biases, self.packer),
            gates=self.packer.layers([cell.weight_hh[:twice] for cell in cells]),
            candidates=self.packer.layers([cell.weight_hh[twice:] for cell in cells]),
            candidate_LH=stack_layers([cell.bias_hh[twice:] for cell in cells], self.hidden),
            residual=settings.residual,
            reset_before=settings.reset == "before",
        )


class LstmEngine(RecurrentEngine):
    vectors = 2
    kernel_state_type = LstmKernelState

    def pack_weights(self, model: Any) -> Any:
        return lstm_weights(model, model.backbone, self.packer)


def lstm_weights(model: TokenModel, backbone: Any, packer: WeightPacker) -> LstmWeights:
    cells = list(backbone.cells)
    table, inputs, bias = input_projection(model, cells, [cell.bias_ih + cell.bias_hh for cell in cells], packer)
    return LstmWeights(
        table, inputs, bias, packer.layers([cell.weight_hh for cell in cells]), backbone.settings.residual
    )


def input_projection(
    model: TokenModel, cells: list[Any], biases: list[Tensor], packer: WeightPacker
) -> tuple[Any, Any, Any]:
    """The first layer's input projection of every token, and the input matrices and biases of the other layers."""
    table_VG = model.embedding.weight @ cells[0].weight_ih.T + biases[0]
    above = cells[1:]
    return (
        pad_to_tiles(table_VG),
        packer.layers([cell.weight_ih for cell in above]),
        stack_layers(biases[1:], len(biases[0])),
    )
