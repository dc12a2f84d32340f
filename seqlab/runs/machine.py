"""The machine that a result was found on, in words."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """The processor and its cores."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        found = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        name = found[0] if found else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"
