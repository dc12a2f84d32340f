"""Which rows of a batch a process takes.

A batch is the same whatever the number of processes, and each takes some of its rows. What is drawn at random for a row
(dropout, hidden words) depends on the row's place in the whole batch, so it is also the same.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from seqlab.distributed.world import RowSpan

_computing: RowSpan | None = None


def computed_rows() -> RowSpan | None:
    """The rows that tensors are now; None for the whole batch."""
    return _computing


@contextmanager
def batch_rows(rows: RowSpan | None) -> Iterator[None]:
    """While entered, tensors are these rows of a batch: their first axis, or a multiple of it."""
    # no ContextVar: torch computes the gradients of a GPU, and with them what is computed again, in its own threads
    global _computing
    before, _computing = _computing, rows
    try:
        yield
    finally:
        _computing = before


def first_position(elements: int) -> int:
    """The place in the tensor of the whole batch of the first element of a tensor of so many elements."""
    return 0 if _computing is None or not len(_computing) else elements // len(_computing) * _computing.first


def rand_rows(shape: Sequence[int], device: torch.device) -> Tensor:
    """Uniform numbers for these rows: those that the whole batch would have."""
    if _computing is None or shape[0] != len(_computing):
        return torch.rand(shape, device=device)
    return torch.rand((_computing.total, *shape[1:]), device=device)[_computing.slice]
