"""Attention masks: each query sees its own range of keys, [first, last)."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Ranges:
    """Causal, windowed and ragged attention all have this form."""

    first_BT: Tensor
    last_BT: Tensor

    def mask(self, keys: int) -> Tensor:
        """True where a query sees a key."""
        key_S = torch.arange(keys, device=self.first_BT.device)
        return (key_S >= self.first_BT[:, :, None]) & (key_S < self.last_BT[:, :, None])


def causal(before_B: Tensor, steps: int, window: int | None = None) -> Ranges:
    """Query t sees the `before_B` earlier keys of its row and the new ones up to its own, the last `window` of them."""
    last_BT = before_B[:, None] + torch.arange(1, steps + 1, device=before_B.device)
    first_BT = torch.zeros_like(last_BT) if window is None else (last_BT - window).clamp(min=0)
    return Ranges(first_BT, last_BT)


def everything(lengths_B: Tensor, steps: int) -> Ranges:
    """Every query sees all keys of its row."""
    last_BT = lengths_B[:, None].expand(-1, steps)
    return Ranges(torch.zeros_like(last_BT), last_BT)
