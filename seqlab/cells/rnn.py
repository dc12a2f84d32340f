"""The vanilla recurrence of Elman (1990)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.cells.cell import RecurrentCell, last_kept
from seqlab.contracts import TensorTree, Trace


@dataclass(frozen=True)
class RnnState(TensorTree):
    h_BH: Tensor


ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid}


class RnnCell(RecurrentCell):
    """h' = g(W x + b + U h + d), with g one of tanh, relu, sigmoid."""

    gates = 1

    def __init__(self, inputs: int, hidden: int, activation: str = "tanh"):
        super().__init__(inputs, hidden)
        self.activation = activation

    def start(self, batch: int) -> RnnState:
        return RnnState(self.zeros(batch))

    def step(self, x_BD: Tensor, state: RnnState, trace: Trace | None = None) -> tuple[Tensor, RnnState]:
        g = ACTIVATIONS[self.activation]
        h = g(self.from_input(x_BD) + self.from_state(state.h_BH))
        if trace:
            trace.record(hidden=h)
        return h, RnnState(h)

    def fused(self, x_BTD: Tensor, state: RnnState, mask_BT: Tensor | None = None) -> tuple[Tensor, RnnState]:
        if self.activation == "sigmoid":
            y_BTH = self._fused_sigmoid(x_BTD, state.h_BH)
        else:
            kernel = torch.rnn_tanh if self.activation == "tanh" else torch.rnn_relu
            y_BTH = self._run(kernel, x_BTD, state.h_BH, self.weights)
        last_BH = y_BTH[:, -1] if mask_BT is None else last_kept(y_BTH, state.h_BH, mask_BT)
        return y_BTH, RnnState(last_BH)

    def _run(self, kernel, x_BTD: Tensor, h_BH: Tensor, weights: list[Tensor]) -> Tensor:
        y_BTH, _ = kernel(x_BTD, h_BH[None].contiguous(), weights, True, 1, 0.0, self.training, False, True)
        return y_BTH

    def _fused_sigmoid(self, x_BTD: Tensor, h_BH: Tensor) -> Tensor:
        """torch has no sigmoid recurrence, but σ(z) = (1 + tanh(z/2)) / 2: with s = 2h - 1 it is a tanh one,
        s' = tanh(W x / 2 + U s / 4 + (b + d + U 1 / 2) / 2)."""
        from_ones_H = self.weight_hh.sum(1) / 4
        weights = [self.weight_ih / 2, self.weight_hh / 4, self.bias_ih / 2, self.bias_hh / 2 + from_ones_H]
        s_BTH = self._run(torch.rnn_tanh, x_BTD, 2 * h_BH - 1, weights)
        return (1 + s_BTH) / 2
