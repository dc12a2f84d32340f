"""The gated recurrent unit of Cho et al. (2014)."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqlab.cells.cell import HiddenState, RecurrentCell, last_kept
from seqlab.contracts import Recorded, Trace, record
from seqlab.precision import full


class GruCell(RecurrentCell):
    """
    r = σ(W_r x + b_r + U_r h + d_r)            how much of the past the candidate sees
    z = σ(W_z x + b_z + U_z h + d_z)            how much of the past is kept
    n = tanh(W_n x + b_n + r ⊙ (U_n h + d_n))   the candidate; reset "after" the product, as in fused kernels
    n = tanh(W_n x + b_n + U_n (r ⊙ h) + d_n)   or "before" it, as in the paper
    h' = (1 - z) ⊙ n + z ⊙ h
    """

    gates = 3
    records: ClassVar = {
        "reset": Recorded("gate", "r, how much of the past the candidate sees"),
        "update": Recorded("gate", "z, how much of the past is kept"),
        "candidate": Recorded("state", "n, the candidate"),
        "hidden": Recorded("state", "h', the hidden vector"),
    }

    def __init__(self, inputs: int, hidden: int, reset: str = "after"):
        super().__init__(inputs, hidden)
        self.reset = reset
        self.has_fused = reset == "after"

    def step(self, x_BD: Tensor, state: HiddenState, trace: Trace | None = None) -> tuple[Tensor, HiddenState]:
        h = state.h_BH
        x_r, x_z, x_n = self.from_input(x_BD).chunk(3, dim=1)
        if self.reset == "before":
            U_rz, U_n = self.weight_hh.split((2 * self.hidden, self.hidden))
            d_rz, d_n = self.bias_hh.split((2 * self.hidden, self.hidden))
            h_r, h_z = full(linear(h, U_rz, d_rz)).chunk(2, dim=1)
            r = record(trace, "reset", torch.sigmoid(x_r + h_r))
            n = torch.tanh(x_n + full(linear(r * h, U_n, d_n)))
        else:
            h_r, h_z, h_n = self.from_state(h).chunk(3, dim=1)
            r = record(trace, "reset", torch.sigmoid(x_r + h_r))
            n = torch.tanh(x_n + r * h_n)
        n = record(trace, "candidate", n)
        z = record(trace, "update", torch.sigmoid(x_z + h_z))
        new = record(trace, "hidden", (1 - z) * n + z * h)
        return new, HiddenState(new)

    def fused(self, x_BTD: Tensor, state: HiddenState, mask_BT: Tensor | None = None) -> tuple[Tensor, HiddenState]:
        y_BTH = self.run_kernel(torch.gru, x_BTD, state.h_BH, self.weights)
        return y_BTH, HiddenState(last_kept(y_BTH, state.h_BH, mask_BT))
