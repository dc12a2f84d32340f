"""Compiled CPU kernels: arrays in, arrays out, each tested against the plain implementation that it replaces.

Why numba: a decode step of a small model takes microseconds, and torch's overhead per call is a multiple of that (an
LSTM step of 256 units: 19 µs compiled, 316 µs in torch), so the whole token loop has to leave Python. numba compiles
it at first use, for this CPU, from Python source: no build step and no binary per platform. torch.compile would need
a C++ compiler on the user's machine. Additive attention is here for memory: torch stores a tanh for every query, key
and feature.

Compiled kernels are cached in the user's cache directory, never in a run.
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

from seqlab.cache import cache_directory, is_private


def kernel_cache() -> Path:
    """The cache of compiled kernels, one folder per version of the sources.

    A kernel includes everything that it calls, but numba's own cache looks only at the age of one file."""
    name = _sources_digest()
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given is None or not is_private(Path(given)):
        return cache_directory("numba", name)
    return Path(given) if Path(given).name == name else Path(given) / name


@cache
def _sources_digest() -> str:
    """Identifies the current sources of all kernels."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())
# the only threading layer that several threads may enter at once
os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")

# NaN and infinity must survive, so no "nnan" and no "ninf"
FASTMATH = {"contract", "reassoc", "arcp", "afn"}
# x / 0 is infinity, not an error: checking every division would prevent vectorization
KERNEL: dict[str, Any] = {"error_model": "numpy", "cache": True}
FAST: dict[str, Any] = {**KERNEL, "fastmath": FASTMATH}
ANNOUNCE_AFTER = 1.0  # seconds until a first use reports that it compiles


@cache
def can_compile() -> bool:
    """Whether numba is installed and works, with a writable cache."""
    try:
        import seqlab.kernels.dropout  # noqa: F401
    except (ImportError, RuntimeError, SystemError, OSError):
        return False
    return True


def call_kernel(kernel: Callable[..., None], arguments: list[Any], threads: int) -> None:
    """Run a kernel on this many threads; its first use in a process compiles it or loads it from the cache."""
    global _parallel_since
    process = os.getpid()
    if _parallel_since != process:
        if _parallel_since is not None:
            _serial(kernel)(*arguments)
            return
        _parallel_since = process
    _set_threads(threads)
    if getattr(kernel, "overloads", None):
        kernel(*arguments)
        return
    with announce_compilation(getattr(kernel, "__name__", "")):
        kernel(*arguments)
    # numba's first parallel loop sets the thread count of the OpenMP library that torch uses too
    torch.set_num_threads(threads)


def _set_threads(threads: int) -> None:
    import numba

    threads = min(threads, int(numba.config.NUMBA_NUM_THREADS))  # pyright: ignore[reportAttributeAccessIssue]
    if numba.get_num_threads() != threads:
        numba.set_num_threads(threads)


_parallel_since: int | None = None  # the process that has run a parallel kernel first


def is_forked() -> bool:
    """Whether this process was forked from one that has run parallel kernels: GNU's OpenMP would end it."""
    return _parallel_since not in (None, os.getpid())


@cache
def _serial(kernel: Any) -> Any:
    """The same kernel on one thread, with the same bits. It is not cached: numba would take one for the other."""
    import numba

    kept = {name: kernel.targetoptions[name] for name in ("error_model", "fastmath") if name in kernel.targetoptions}
    return numba.njit(nogil=True, **kept)(kernel.py_func)


@contextmanager
def announce_compilation(name: str) -> Iterator[None]:
    """Report on standard error that a kernel is being compiled, if it takes long."""
    timer = threading.Timer(ANNOUNCE_AFTER, _announce, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _announce(name: str) -> None:
    if any(kernel_cache().rglob(f"*.{name}-*.nbi")):  # loading it takes long on a busy machine
        return
    message = f"preparing the kernel '{name}': compiled once for this machine, then loaded from the cache"
    print(message, file=sys.stderr, flush=True)  # noqa: T201
