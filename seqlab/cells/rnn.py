"""The vanilla recurrence of Elman (1990)."""

from typing import ClassVar

import torch
from torch import Tensor

from seqlab.cells.cell import HiddenState, RecurrentCell, last_kept
from seqlab.contracts import Recorded, Trace, record

ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid}


class RnnCell(RecurrentCell):
    """h' = g(W x + b + U h + d), with g one of tanh, relu, sigmoid."""

    gates = 1
    records: ClassVar = {"hidden": Recorded("state", "h', the hidden vector")}

    def __init__(self, inputs: int, hidden: int, activation: str = "tanh"):
        super().__init__(inputs, hidden)
        self.activation = activation

    def step(self, x_BD: Tensor, state: HiddenState, trace: Trace | None = None) -> tuple[Tensor, HiddenState]:
        g = ACTIVATIONS[self.activation]
        h = record(trace, "hidden", g(self.from_input(x_BD) + self.from_state(state.h_BH)))
        return h, HiddenState(h)

    def fused(self, x_BTD: Tensor, state: HiddenState, mask_BT: Tensor | None = None) -> tuple[Tensor, HiddenState]:
        if self.activation == "sigmoid":
            y_BTH = self._fused_sigmoid(x_BTD, state.h_BH)
        else:
            kernel = torch.rnn_tanh if self.activation == "tanh" else torch.rnn_relu
            y_BTH = self.run_kernel(kernel, x_BTD, state.h_BH, self.weights)
        return y_BTH, HiddenState(last_kept(y_BTH, state.h_BH, mask_BT))

    def _fused_sigmoid(self, x_BTD: Tensor, h_BH: Tensor) -> Tensor:
        """torch has no sigmoid recurrence, but σ(z) = (1 + tanh(z/2)) / 2: with s = 2h - 1 it is a tanh one,
        s' = tanh(W x / 2 + U s / 4 + (b + d + U 1 / 2) / 2)."""
        from_ones_H = self.weight_hh.sum(1) / 4
        weights = [self.weight_ih / 2, self.weight_hh / 4, self.bias_ih / 2, self.bias_hh / 2 + from_ones_H]
        s_BTH = self.run_kernel(torch.rnn_tanh, x_BTD, 2 * h_BH - 1, weights)
        return (1 + s_BTH) / 2
