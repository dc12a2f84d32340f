"""bfloat16 in training: where matrix products are rounded to it, and where they are not.

Weights, their gradients and moments, residual streams, carried states, logits and losses stay float32; torch's autocast
rounds the inputs of matrix products and of the LSTM kernel. Evaluations run without it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

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


def lstm_precision(device: torch.device) -> AbstractContextManager[object]:
    """While entered, torch's LSTM kernel rounds as the rest does, or not at all where it has no bfloat16 form."""
    return nullcontext() if device.type != "cpu" or not is_rounding(device) or lstm_rounds() else unrounded(device)


@contextmanager
def attention_precision(device: torch.device) -> Iterator[Callable[[Tensor], Tensor]]:
    """While entered, torch's attention kernel does not round on a CPU, where it takes twice as long in bfloat16; what
    it reads has to pass the function."""
    if device.type != "cpu":
        yield lambda x: x
        return
    with unrounded(device):
        yield full


@cache
def lstm_rounds() -> bool:
    """Whether the CPU's LSTM kernel takes bfloat16, which depends on the processor: tried, not looked up."""
    weights = [torch.zeros(8, 2), torch.zeros(8, 2), torch.zeros(8), torch.zeros(8)]
    start = [torch.zeros(1, 1, 2), torch.zeros(1, 1, 2)]
    try:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            torch.lstm(torch.zeros(1, 1, 2), start, weights, True, 1, 0.0, False, False, True)
    except RuntimeError:
        return False
    return True


def full(x: Tensor) -> Tensor:
    """What was computed in bfloat16 as float32; anything else as it is."""
    return x.float() if x.dtype == torch.bfloat16 else x


def softmax(scores: Tensor, dim: int) -> Tensor:
    """In float32 at least."""
    return scores.softmax(dim, dtype=torch.promote_types(scores.dtype, torch.float32))
