"""Compiled engines of RNN, GRU and LSTM."""

from typing import Any

import torch
from torch import Tensor

from seqlab.backbones.recurrent_settings import GruSettings, RnnSettings
from seqlab.decode.engines.compiled import CompiledEngine, EngineState
from seqlab.decode.engines.packing import WeightPacker, pad_to_tiles, stack_layers
from seqlab.kernels.recurrent import ACTIVATIONS, GruWeights, LstmKernelState, LstmWeights, RnnKernelState, RnnWeights
from seqlab.models.token_model import TokenModel


class RecurrentEngine(CompiledEngine):
    vectors = 1  # state vectors of a layer
    kernel_state_type = RnnKernelState

    def start(self, rows: int) -> EngineState:
        shape = (rows, self.settings.layers, self.settings.hidden)
        arrays = tuple(torch.zeros(shape) for _ in range(self.vectors))
        return EngineState(torch.zeros(rows, dtype=torch.long), arrays)


class RnnEngine(RecurrentEngine):
    settings: RnnSettings

    def pack_weights(self, model: Any) -> RnnWeights:
        return RnnWeights(*stack_weights(model, model.backbone, self.packer), ACTIVATIONS[self.settings.activation])


class GruEngine(RecurrentEngine):
    settings: GruSettings

    def pack_weights(self, model: Any) -> GruWeights:
        cells = list(model.backbone.cells)
        twice = 2 * self.settings.hidden
        biases = [cell.bias_ih + torch.cat([cell.bias_hh[:twice], 0 * cell.bias_hh[twice:]]) for cell in cells]
        return GruWeights(
            *input_projection(model, cells, biases, self.packer),
            gates=self.packer.layers([cell.weight_hh[:twice] for cell in cells]),
            candidates=self.packer.layers([cell.weight_hh[twice:] for cell in cells]),
            candidate_LH=stack_layers([cell.bias_hh[twice:] for cell in cells], self.settings.hidden),
            residual=self.settings.residual,
            reset_before=self.settings.reset == "before",
        )


class LstmEngine(RecurrentEngine):
    vectors = 2
    kernel_state_type = LstmKernelState

    def pack_weights(self, model: Any) -> Any:
        return LstmWeights(*stack_weights(model, model.backbone, self.packer))


def stack_weights(model: TokenModel, backbone: Any, packer: WeightPacker) -> tuple[Any, Any, Any, Any, bool]:
    """Table, input matrices, biases, state matrices and `residual` of stacked RNN or LSTM cells."""
    cells = list(backbone.cells)
    projection = input_projection(model, cells, [cell.bias_ih + cell.bias_hh for cell in cells], packer)
    return *projection, packer.layers([cell.weight_hh for cell in cells]), backbone.settings.residual


def input_projection(
    model: TokenModel, cells: list[Any], biases: list[Tensor], packer: WeightPacker
) -> tuple[Any, Any, Any]:
    """The first layer's input projection of every token, and the input matrices and biases of the other layers."""
    table_VG = model.input_vectors_VD @ cells[0].weight_ih.T + biases[0]
    inputs = packer.layers([cell.weight_ih for cell in cells[1:]])
    return pad_to_tiles(table_VG), inputs, stack_layers(biases[1:], len(biases[0]))
