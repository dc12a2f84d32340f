"""RNN, GRU and LSTM as compiled loops."""

from typing import Any

import torch
from torch import Tensor

from seqlab.decode.engine import EngineState
from seqlab.decode.engines.compiled import CompiledEngine
from seqlab.decode.engines.packing import Packer, filled, stacked
from seqlab.kernels.recurrent import (
    RELU,
    SIGMOID,
    TANH,
    GruWeights,
    HiddenState,
    LstmState,
    LstmWeights,
    RnnWeights,
)
from seqlab.models.token_model import TokenModel

ACTIVATIONS = {"tanh": TANH, "relu": RELU, "sigmoid": SIGMOID}


class RecurrentEngine(CompiledEngine):
    vectors = 1  # that a layer remembers
    kernel_state = HiddenState

    def __init__(self, model: TokenModel):
        settings: Any = model.backbone.settings
        self.layers, self.hidden = settings.layers, settings.hidden
        super().__init__(model)

    def start(self, rows: int) -> EngineState:
        arrays = tuple(torch.zeros(rows, self.layers, self.hidden) for _ in range(self.vectors))
        return EngineState(torch.zeros(rows, dtype=torch.long), arrays)


class RnnEngine(RecurrentEngine):
    def pack(self, model: Any) -> RnnWeights:
        settings, cells = model.backbone.settings, list(model.backbone.cells)
        table, inputs, bias = from_input(model, cells, [cell.bias_ih + cell.bias_hh for cell in cells], self.packer)
        states = self.packer.layers([cell.weight_hh for cell in cells])
        return RnnWeights(table, inputs, bias, states, settings.residual, ACTIVATIONS[settings.activation])


class GruEngine(RecurrentEngine):
    def pack(self, model: Any) -> GruWeights:
        settings, cells = model.backbone.settings, list(model.backbone.cells)
        twice = 2 * self.hidden
        biases = [cell.bias_ih + torch.cat([cell.bias_hh[:twice], 0 * cell.bias_hh[twice:]]) for cell in cells]
        return GruWeights(
            *from_input(model, cells, biases, self.packer),
            gates=self.packer.layers([cell.weight_hh[:twice] for cell in cells]),
            candidates=self.packer.layers([cell.weight_hh[twice:] for cell in cells]),
            candidate_LH=stacked([cell.bias_hh[twice:] for cell in cells], self.hidden),
            residual=settings.residual,
            reset_before=settings.reset == "before",
        )


class LstmEngine(RecurrentEngine):
    vectors = 2
    kernel_state = LstmState

    def pack(self, model: Any) -> Any:
        return lstm_weights(model, model.backbone, self.packer)


def lstm_weights(model: TokenModel, backbone: Any, packer: Packer) -> LstmWeights:
    cells = list(backbone.cells)
    table, inputs, bias = from_input(model, cells, [cell.bias_ih + cell.bias_hh for cell in cells], packer)
    return LstmWeights(
        table, inputs, bias, packer.layers([cell.weight_hh for cell in cells]), backbone.settings.residual
    )


def from_input(model: TokenModel, cells: list[Any], biases: list[Tensor], packer: Packer) -> tuple[Any, Any, Any]:
    """The table of the first layer, and the input matrices and biases of the others."""
    table_VG = model.embedding.weight @ cells[0].weight_ih.T + biases[0]
    above = cells[1:]
    return filled(table_VG), packer.layers([cell.weight_ih for cell in above]), stacked(biases[1:], len(biases[0]))
