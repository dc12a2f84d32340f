"""The gated recurrent unit of Cho et al. (2014)."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear

from seqlab.cells.cell import RecurrentCell, last_kept
from seqlab.contracts import TensorTree, Trace


@dataclass(frozen=True)
class GruState(TensorTree):
    h_BH: Tensor


class GruCell(RecurrentCell):
    """
    r = σ(W_r x + b_r + U_r h + d_r)            how much of the past the candidate sees
    z = σ(W_z x + b_z + U_z h + d_z)            how much of the past is kept
    n = tanh(W_n x + b_n + r ⊙ (U_n h + d_n))   the candidate; reset "after" the product, as fused kernels have it
    n = tanh(W_n x + b_n + U_n (r ⊙ h) + d_n)   or "before" it, as the paper has it
    h' = (1 - z) ⊙ n + z ⊙ h
    """

    gates = 3

    def __init__(self, inputs: int, hidden: int, reset: str = "after"):
        super().__init__(inputs, hidden)
        self.reset = reset
        self.has_fused = reset == "after"

    def start(self, batch: int) -> GruState:
        return GruState(self.zeros(batch))

    def step(self, x_BD: Tensor, state: GruState, trace: Trace | None = None) -> tuple[Tensor, GruState]:
        h = state.h_BH
        x_r, x_z, x_n = self.from_input(x_BD).chunk(3, dim=1)
        if self.reset == "before":
            U_rz, U_n = self.weight_hh.split((2 * self.hidden, self.hidden))
            d_rz, d_n = self.bias_hh.split((2 * self.hidden, self.hidden))
            h_r, h_z = linear(h, U_rz, d_rz).chunk(2, dim=1)
            r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
            n = torch.tanh(x_n + linear(r * h, U_n, d_n))
        else:
            h_r, h_z, h_n = self.from_state(h).chunk(3, dim=1)
            r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
            n = torch.tanh(x_n + r * h_n)
        new = (1 - z) * n + z * h
        if trace:
            trace.record(reset=r, update=z, candidate=n, hidden=new)
        return new, GruState(new)

    def fused(self, x_BTD: Tensor, state: GruState, mask_BT: Tensor | None = None) -> tuple[Tensor, GruState]:
        start_1BH = state.h_BH[None].contiguous()
        y_BTH, _ = torch.gru(x_BTD, start_1BH, self.weights, True, 1, 0.0, self.training, False, True)
        last_BH = y_BTH[:, -1] if mask_BT is None else last_kept(y_BTH, state.h_BH, mask_BT)
        return y_BTH, GruState(last_BH)
