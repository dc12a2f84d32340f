"""How much memory training may take, as a user asks for it. Nothing here needs torch."""

import re
from dataclasses import dataclass

from seqlab.errors import UsageError

FACTORS = {"": 1000, "b": 1000, "ib": 1024}
UNITS = {"": 1, "b": 1, **{f"{k}{b}": f**e for b, f in FACTORS.items() for e, k in enumerate("kmgt", 1)}}


@dataclass(frozen=True)
class MemoryLimit:
    """`asked`: the batch is divided until the process fits into `size` bytes, or training into the free memory."""

    asked: bool = False
    size: int | None = None
    held: int = 0  # of `size`, what the process has before training


UNLIMITED = MemoryLimit()


def read_limit(fit: object) -> MemoryLimit:
    """None and False: settings stay as they are; True: the free memory; otherwise an amount."""
    if fit is None or isinstance(fit, bool):
        return MemoryLimit(bool(fit))
    return MemoryLimit(True, parse_size(str(fit)))


def parse_size(text: str) -> int:
    """'2GB', '512 MiB' or a number of bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?b?)\s*", text.lower())
    if not found or found[2] not in UNITS or not float(found[1]):
        raise UsageError(f"'{text}' is not an amount of memory: write 2GB, 512MiB or a number of bytes.")
    return int(float(found[1]) * UNITS[found[2]])
