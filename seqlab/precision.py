"""bfloat16 in training: where matrix products are rounded to it, and where they are not.

Weights, their gradients and moments, residual streams, carried states, logits and losses stay float32; torch's autocast
rounds the inputs of matrix products and of the LSTM kernel. Evaluations run without it.
"""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def training_precision(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """While entered, matrix products round their inputs if the precision is bf16."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()


def is_rounding(device: torch.device) -> bool:
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)


def unrounded(device: torch.device) -> AbstractContextManager[object]:
    """While entered, nothing is rounded: for our own kernels and for losses."""
    return torch.autocast(device.type, enabled=False) if is_rounding(device) else nullcontext()


def full(x: Tensor) -> Tensor:
    """What was computed in bfloat16 as float32; anything else as it is."""
    return x.float() if x.dtype == torch.bfloat16 else x


def softmax(scores: Tensor, dim: int) -> Tensor:
    """In float32 at least."""
    return scores.softmax(dim, dtype=torch.promote_types(scores.dtype, torch.float32))
