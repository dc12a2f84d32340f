"""Long short-term memory: Hochreiter & Schmidhuber (1997) with the forget gate of Gers et al. (2000)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from seqlab.cells.cell import RecurrentCell, last_kept
from seqlab.contracts import Recorded, TensorTree, Trace, record
from seqlab.precision import full, lstm_precision


@dataclass(frozen=True)
class LstmState(TensorTree):
    h_BH: Tensor  # hidden vector
    c_BH: Tensor  # cell vector


class LstmCell(RecurrentCell):
    """
    i = σ(W_i x + b_i + U_i h + d_i)        what to write
    f = σ(W_f x + b_f + U_f h + d_f)        what to keep
    g = tanh(W_g x + b_g + U_g h + d_g)     the candidate
    o = σ(W_o x + b_o + U_o h + d_o)        what to show
    c' = f ⊙ c + i ⊙ g
    h' = o ⊙ tanh(c')
    """

    gates = 4
    records: ClassVar = {
        "input": Recorded("gate", "i, what to write"),
        "forget": Recorded("gate", "f, what to keep"),
        "candidate": Recorded("state", "g, the candidate"),
        "output": Recorded("gate", "o, what to show"),
        "cell": Recorded("state", "c', the cell vector"),
        "hidden": Recorded("state", "h', the hidden vector"),
    }

    def __init__(self, inputs: int, hidden: int, forget_bias: float = 1.0):
        super().__init__(inputs, hidden)
        self.forget_bias = forget_bias
        self.init_forget_bias()

    @torch.no_grad()
    def init_forget_bias(self) -> None:
        """The forget gate's two biases sum to `forget_bias`; above 0, the gate starts open (Jozefowicz et al. 2015)."""
        forget = slice(self.hidden, 2 * self.hidden)
        self.bias_ih[forget] = self.forget_bias
        self.bias_hh[forget] = 0

    def start(self, batch: int) -> LstmState:
        return LstmState(self.zeros(batch), self.zeros(batch))

    def step(self, x_BD: Tensor, state: LstmState, trace: Trace | None = None) -> tuple[Tensor, LstmState]:
        i, f, g, o = (self.from_input(x_BD) + self.from_state(state.h_BH)).chunk(4, dim=1)
        i = record(trace, "input", torch.sigmoid(i))
        f = record(trace, "forget", torch.sigmoid(f))
        g = record(trace, "candidate", torch.tanh(g))
        o = record(trace, "output", torch.sigmoid(o))
        c = record(trace, "cell", f * state.c_BH + i * g)
        h = record(trace, "hidden", o * torch.tanh(c))
        return h, LstmState(h, c)

    def fused(self, x_BTD: Tensor, state: LstmState, mask_BT: Tensor | None = None) -> tuple[Tensor, LstmState]:
        weights = self.weights
        if mask_BT is not None:
            x_BTD, weights = self._hold_at_padding(x_BTD, mask_BT)
        start = [full(vector_BH)[None].contiguous() for vector_BH in (state.h_BH, state.c_BH)]
        with lstm_precision(x_BTD.device):
            computed = torch.lstm(full(x_BTD), start, weights, True, 1, 0.0, self.training, False, True)
        y_BTH, h_1BH, c_1BH = map(full, computed)
        h_BH = h_1BH[0] if mask_BT is None else last_kept(y_BTH, state.h_BH, mask_BT)
        return y_BTH, LstmState(h_BH, c_1BH[0])

    def _hold_at_padding(self, x_BTD: Tensor, mask_BT: Tensor) -> tuple[Tensor, list[Tensor]]:
        """One more input, 1 at padding, that drives the forget gate to 1 and the input gate to 0, so c stays as it is.

        The kernel returns only the last c, so without this (or packing) short rows would lose theirs."""
        padding_BT1 = (~mask_BT).to(x_BTD.dtype)[:, :, None]
        saturated = 1e4
        column = self.weight_ih.new_zeros(4 * self.hidden, 1)
        column[: self.hidden] = -saturated
        column[self.hidden : 2 * self.hidden] = saturated
        weight_ih = torch.cat([self.weight_ih, column], dim=1)
        return torch.cat([x_BTD, padding_BT1], dim=2), [weight_ih, *self.weights[1:]]
