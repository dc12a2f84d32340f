"""Memory that a training step frees stays with the process, for the next step.

Every step frees its activations and allocates arrays of the same sizes again. GNU's C library maps each large array
anew and returns it when it is freed, so the system clears the same pages in every step: a quarter of the time of an
LSTM's step, more in bf16. With both thresholds out of reach, the next step gets the pages of the last one.
"""

import ctypes
import os
import platform
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt, from malloc.h
KEPT_ARRAY = 1 << 30  # bytes: larger arrays are few
KEPT_FREE = (1 << 31) - 1  # bytes at the end of the heap: the largest number that mallopt takes


@cache
def keep_freed_memory() -> bool:
    """Keep what is freed, from now on; False where the C library is another one or the user has tuned it."""
    library = _gnu_library()
    if library is None or _is_tuned():
        return False
    return bool(library.mallopt(MMAP_THRESHOLD, KEPT_ARRAY) and library.mallopt(TRIM_THRESHOLD, KEPT_FREE))


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
