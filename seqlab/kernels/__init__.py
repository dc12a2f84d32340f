"""Compiled CPU kernels: arrays in, arrays out, each tested against the plain form that it replaces.

The compiler's cache lies in the user's own cache directory, never in a run.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from seqlab.cache import cache_directory


def kernel_cache() -> Path:
    """Where compiled kernels are kept: one folder for each state of their sources, as a kernel is compiled with all
    that it calls, and the compiler looks at the age of its own file alone."""
    name = _sources_digest()
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given is None:
        return cache_directory("numba", name)
    return Path(given) if Path(given).name == name else Path(given) / name


@cache
def _sources_digest() -> str:
    """A name for what the kernels' sources are now."""
    found = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        found.update(source.read_bytes())
    return found.hexdigest()[:16]


os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())
# the one layer whose threads may be entered from several threads at once
os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")

# not-a-number must survive, so no "nnan" and no "ninf"
FASTMATH = {"contract", "reassoc", "arcp", "afn"}
# a division by zero is infinity, not an error: to look for one would keep the compiler from taking many at a time
KERNEL: dict[str, Any] = {"error_model": "numpy", "cache": True}
FAST: dict[str, Any] = {**KERNEL, "fastmath": FASTMATH}
ANNOUNCE_AFTER = 1.0  # seconds of silence before a first use says what it is doing


def call_kernel(kernel: Callable[..., None], arguments: list[Any], threads: int) -> None:
    """Run a kernel on so many threads; its first use in a process compiles it, or loads what was compiled before."""
    import numba

    numba.set_num_threads(min(threads, int(numba.config.NUMBA_NUM_THREADS)))  # pyright: ignore[reportAttributeAccessIssue]
    if getattr(kernel, "signatures", None):
        kernel(*arguments)
        return
    with announce_compilation(getattr(kernel, "__name__", "")):
        kernel(*arguments)
    # numba's first parallel loop sets the thread count of the OpenMP library that torch uses too
    torch.set_num_threads(threads)


@contextmanager
def announce_compilation(name: str) -> Iterator[None]:
    """Say what is being made ready, if it takes long."""
    timer = threading.Timer(ANNOUNCE_AFTER, _announce, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _announce(name: str) -> None:
    message = f"preparing the kernel '{name}': it is compiled once for this machine and kept for later runs"
    print(message, file=sys.stderr, flush=True)  # noqa: T201
