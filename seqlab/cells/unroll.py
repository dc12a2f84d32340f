"""The plain loop over time: a cell's equations, one step after the other."""

from typing import Any

import torch
from torch import Tensor

from seqlab.contracts import Cell, Trace


def unroll(
    cell: Cell, x_BTD: Tensor, state: Any, mask_BT: Tensor | None = None, trace: Trace | None = None
) -> tuple[Tensor, Any]:
    """Outputs at all positions, and the state after each row's last kept one."""
    outputs: list[Tensor] = []
    for t in range(x_BTD.shape[1]):
        y_BH, new = cell.step(x_BTD[:, t], state, trace)
        if mask_BT is not None:
            kept_B1 = mask_BT[:, t, None]
            new = new.join([state], lambda pair, kept_B1=kept_B1: torch.where(kept_B1, *pair))
        state = new
        outputs.append(y_BH)
    return torch.stack(outputs, dim=1), state
