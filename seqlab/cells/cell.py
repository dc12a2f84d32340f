"""What the three recurrent cells share: parameters in torch's layout, so that torch's kernels run on the same tensors.

`unroll` is the plain loop over time. Read `lstm.py`, `gru.py` and `rnn.py` for the equations.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from seqlab.contracts import Cell, TensorTree, Trace
from seqlab.precision import full


@dataclass(frozen=True)
class HiddenState(TensorTree):
    h_BH: Tensor


class RecurrentCell(Cell):
    """A cell with one matrix for the input and one for the state, each a stack of `gates` blocks."""

    gates: ClassVar[int]
    has_fused = True  # whether torch has a kernel for this cell's equations

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.inputs = inputs
        self.hidden = hidden
        rows = self.gates * hidden
        self.weight_ih = nn.Parameter(torch.empty(rows, inputs))
        self.weight_hh = nn.Parameter(torch.empty(rows, hidden))
        self.bias_ih = nn.Parameter(torch.empty(rows))
        self.bias_hh = nn.Parameter(torch.empty(rows))
        self.matrix_blocks = dict.fromkeys(("weight_ih", "weight_hh"), self.gates)  # of training/muon.py
        bound = 1 / math.sqrt(hidden)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    @property
    def weights(self) -> list[Tensor]:
        """All parameters in the order of torch's kernels."""
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def from_input(self, x_BD: Tensor) -> Tensor:
        return full(linear(x_BD, self.weight_ih, self.bias_ih))

    def from_state(self, h_BH: Tensor) -> Tensor:
        return full(linear(h_BH, self.weight_hh, self.bias_hh))

    def zeros(self, batch: int) -> Tensor:
        return self.weight_hh.new_zeros(batch, self.hidden)

    def start(self, batch: int) -> TensorTree:
        return HiddenState(self.zeros(batch))

    def run_kernel(self, kernel: Any, x_BTD: Tensor, h_BH: Tensor, weights: list[Tensor]) -> Tensor:
        """All outputs of a torch kernel whose state is one vector."""
        h_1BH = full(h_BH)[None].contiguous()
        y_BTH, _ = kernel(full(x_BTD), h_1BH, weights, True, 1, 0.0, self.training, False, True)
        return full(y_BTH)

    @abstractmethod
    def fused(self, x_BTD: Tensor, state: Any, mask_BT: Tensor | None = None) -> tuple[Tensor, Any]:
        """What `unroll` computes, in one kernel. Each padded row returns the state after its last kept position."""


def unroll(
    cell: Cell,
    x_BTD: Tensor,
    state: Any,
    mask_BT: Tensor | None = None,
    trace: Trace | None = None,
    backward: bool = False,
) -> tuple[Tensor, Any]:
    """The outputs at all positions, and the state after each row's last kept position; `backward`, from each row's
    last kept position to its first, and the state after that."""
    outputs: dict[int, Tensor] = {}
    times = range(x_BTD.shape[1])
    for t in reversed(times) if backward else times:
        y_BH, new = cell.step(x_BTD[:, t], state, trace and trace.step(t))
        if mask_BT is not None:
            kept_B1 = mask_BT[:, t, None]
            new = new.join([state], lambda pair, kept_B1=kept_B1: torch.where(kept_B1, *pair))
        state = new
        outputs[t] = y_BH
    return torch.stack([outputs[t] for t in times], dim=1), state


def last_kept(y_BTH: Tensor, start_BH: Tensor, mask_BT: Tensor | None) -> Tensor:
    """The output at each row's last kept position, or `start_BH` if the row keeps none."""
    if mask_BT is None:
        return y_BTH[:, -1]
    lengths_B = mask_BT.sum(1)
    index_B1H = (lengths_B - 1).clamp(min=0)[:, None, None].expand(-1, 1, y_BTH.shape[2])
    gathered_BH = y_BTH.gather(1, index_B1H).squeeze(1)
    return torch.where((lengths_B > 0)[:, None], gathered_BH, start_BH)
