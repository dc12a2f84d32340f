"""Memory that a training step frees: it stays with the process for the next step, or goes back at once.

Every step frees its activations and allocates arrays of the same sizes again. GNU's C library maps each large array
anew and returns it when it is freed, so the system clears the same pages in every step: a quarter of the time of an
LSTM's step, more in bf16. With both thresholds out of reach, the next step gets the pages of the last one. Where a new
array does not fit into the gaps, the peak grows. With both thresholds low, the peak is what the step asks for.
"""

import ctypes
import os
import platform

TRIM_THRESHOLD, MMAP_THRESHOLD, MMAP_COUNT = -1, -3, -4  # parameters of mallopt, from malloc.h
KEEPING = {
    MMAP_THRESHOLD: 1 << 30,  # bytes of an array: larger ones are few
    TRIM_THRESHOLD: (1 << 31) - 1,  # bytes at the end of the heap: the largest number that mallopt takes
}
RETURNING = {MMAP_THRESHOLD: 1 << 14, TRIM_THRESHOLD: 1 << 14, MMAP_COUNT: 1_000_000}


def tune_allocator(keep: bool) -> bool:
    """Keep what is freed, or return it, from now on; False where the C library is another one or the user's tuning
    holds."""
    library = _gnu_library()
    if library is None or _is_tuned():
        return False
    return all(library.mallopt(name, value) for name, value in (KEEPING if keep else RETURNING).items())


def release_freed_memory() -> None:
    """Return to the system what was kept: no step follows."""
    library = _gnu_library()
    if library is not None:
        library.malloc_trim(0)


def _gnu_library() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


def _is_tuned() -> bool:
    named = any(name.startswith("MALLOC_") and name.endswith("_") for name in os.environ)
    return named or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
