"""Thread count and denormal numbers during computation."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def compute_threads(threads: int | None) -> Iterator[None]:
    """While entered, compute with this many threads, and flush denormal numbers to zero.

    Saturated gates produce many numbers below 1e-38, and a CPU takes ten times as long for each of them."""
    threads_before = torch.get_num_threads()
    torch.set_num_threads(threads or default_threads())
    flushed_before = float(torch.tensor(1e-310, dtype=torch.float64) * 1) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed_before)
        torch.set_num_threads(threads_before)


def default_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
