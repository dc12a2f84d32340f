"""Where a result comes from: the machine, in words, and the commit of the working directory."""

import os
import platform
import subprocess
from contextlib import suppress
from pathlib import Path


def machine() -> str:
    """The processor and its cores."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        models = [
            line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        name = models[0] if models else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def git_revision() -> str | None:
    """The commit that is checked out in the working directory, if it is a repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def peak_memory() -> int | None:
    """Peak resident bytes of this process; None if the system does not report them."""
    # getrusage would start from the memory of the parent process
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    return None
