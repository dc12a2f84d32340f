"""What all threads of a process share: the thread count of torch, denormal numbers and the random generator."""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from seqlab.config.sections import MAX_THREADS
from seqlab.distributed.world import launched
from seqlab.errors import SeqlabWarning, UsageError

_COMPUTING = threading.RLock()
_GENERATOR = threading.RLock()


@contextmanager
def compute_threads(threads: int | None) -> Iterator[None]:
    """While entered, compute with this many threads, and flush denormal numbers to zero; other threads of Python wait.

    Saturated gates produce many numbers below 1e-38, and a CPU takes ten times as long for each of them."""
    if threads is not None and not 1 <= threads <= MAX_THREADS:
        raise UsageError(f"the number of threads is {threads:,}: give a number from 1 to {MAX_THREADS:,}.")
    with _exclusive():
        yield from _with_threads(threads)


@contextmanager
def _exclusive() -> Iterator[None]:
    """Two trainings at once would change each other's thread count, and so their results."""
    if not _COMPUTING.acquire(blocking=False):
        warnings.warn(
            "another thread of this process is training or timing a model: this one waits until that has finished. "
            "Use processes to train at the same time.",
            SeqlabWarning,
            stacklevel=2,
        )
        _COMPUTING.acquire()
    try:
        yield
    finally:
        _COMPUTING.release()


def _with_threads(threads: int | None) -> Iterator[None]:
    threads_before = torch.get_num_threads()
    torch.set_num_threads(threads or default_threads())
    flushed_before = float(torch.tensor(1e-310, dtype=torch.float64) * 1) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed_before)
        torch.set_num_threads(threads_before)


@contextmanager
def own_generator() -> Iterator[None]:
    """While entered, no other thread of Python seeds torch's random generator or draws from it to train."""
    with _GENERATOR:
        yield


def default_threads() -> int:
    """As many as OMP_NUM_THREADS says, as for other programs that compute; without it, one for each core.

    Several processes of one machine divide its cores. torchrun then sets OMP_NUM_THREADS to 1 unless the user has set
    it, so 1 says nothing."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # further numbers are for nested threads
    given = int(asked) if asked.isascii() and asked.isdigit() else 0
    processes = launched().local_size
    if processes > 1 and given <= 1:
        return max(1, available_cores() // processes)
    return min(given, MAX_THREADS) or available_cores()


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
