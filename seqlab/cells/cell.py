"""What the three recurrent cells share: parameters in torch's layout, so that torch's kernels run on the same tensors.

Read `lstm.py`, `gru.py` and `rnn.py` for the equations, `unroll.py` for the plain loop over time.
"""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from seqlab.contracts import Cell


class RecurrentCell(Cell):
    """A cell whose `gates` products are stacked in one matrix for the input and one for the state."""

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
        bound = 1 / math.sqrt(hidden)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    @property
    def weights(self) -> list[Tensor]:
        """In the order in which torch's kernels take them."""
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def from_input(self, x_BD: Tensor) -> Tensor:
        return linear(x_BD, self.weight_ih, self.bias_ih)

    def from_state(self, h_BH: Tensor) -> Tensor:
        return linear(h_BH, self.weight_hh, self.bias_hh)

    def zeros(self, batch: int) -> Tensor:
        return self.weight_hh.new_zeros(batch, self.hidden)

    @abstractmethod
    def fused(self, x_BTD: Tensor, state: Any, mask_BT: Tensor | None = None) -> tuple[Tensor, Any]:
        """All steps in one kernel: what `unroll` computes. Right-padded rows return their own last state."""


def last_kept(y_BTH: Tensor, start_BH: Tensor, mask_BT: Tensor) -> Tensor:
    """The output at each row's last kept position; where nothing is kept, the state from before."""
    lengths_B = mask_BT.sum(1)
    index_B1H = (lengths_B - 1).clamp(min=0)[:, None, None].expand(-1, 1, y_BTH.shape[2])
    gathered_BH = y_BTH.gather(1, index_B1H).squeeze(1)
    return torch.where((lengths_B > 0)[:, None], gathered_BH, start_BH)
