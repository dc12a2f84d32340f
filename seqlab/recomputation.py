"""Activation checkpointing: what a layer computes inside is not kept for the gradient but computed again (Chen et al.
2016). A step then computes its forward pass twice, and keeps the input of each layer only.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch.utils.checkpoint import checkpoint

from seqlab.distributed.rows import batch_rows, computed_rows

T = TypeVar("T")
_recomputes = False


@contextmanager
def recomputation(active: bool) -> Iterator[None]:
    """While entered, `call_layer` keeps the inputs of a layer only, if active."""
    global _recomputes
    before, _recomputes = _recomputes, active
    try:
        yield
    finally:
        _recomputes = before


def call_layer(layer: Callable[..., T], *inputs: Any) -> T:
    """The outputs of a layer of a backbone."""
    if not (_recomputes and torch.is_grad_enabled()):
        return layer(*inputs)
    rows = computed_rows()

    def compute(*again: Any) -> T:
        with batch_rows(rows):  # dropout counts rows from the same one when the gradient is computed
            return layer(*again)

    # torch also restores its random generator, from which dropout draws its keys
    return checkpoint(compute, *inputs, use_reentrant=False)  # pyright: ignore[reportReturnType]
