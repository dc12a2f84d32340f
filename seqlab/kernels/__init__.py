"""Compiled CPU kernels: arrays in, arrays out, each tested against the plain form that it replaces.

The compiler's cache lies in the user's own cache directory, never in a run.
"""

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch

from seqlab.cache import cache_directory

os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_directory("numba")))
# the one layer whose threads may be entered from several threads at once
os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")

# not-a-number must survive, so no "nnan" and no "ninf"
FASTMATH = {"contract", "reassoc", "arcp", "afn"}
PATIENCE = 1.0  # seconds of silence before a first use says what it is doing


def call(kernel: Callable[..., None], arguments: list[Any], threads: int) -> None:
    """Run a kernel on so many threads; its first use in a process compiles it, or loads what was compiled before."""
    import numba

    numba.set_num_threads(min(threads, int(numba.config.NUMBA_NUM_THREADS)))  # pyright: ignore[reportAttributeAccessIssue]
    if getattr(kernel, "signatures", None):
        kernel(*arguments)
        return
    said = threading.Timer(PATIENCE, _say, [getattr(kernel, "__name__", "")])
    said.daemon = True
    said.start()
    try:
        kernel(*arguments)
    finally:
        said.cancel()
        # numba's first parallel loop sets the thread count of the OpenMP library that torch uses too
        torch.set_num_threads(threads)


def _say(name: str) -> None:
    message = f"preparing the kernel '{name}': it is compiled once for this machine and kept for later runs"
    print(message, file=sys.stderr, flush=True)  # noqa: T201
