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


def git_revision(folder: Path = Path()) -> str | None:
    """The commit that is checked out in a folder, by default the working directory, if it is in a repository."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def peak_memory() -> int | None:
    """Peak resident bytes of this process; None if the system does not report them."""
    return _status("VmHWM")  # getrusage would start from the memory of the parent process


def resident_memory() -> int | None:
    """Bytes that this process has now; None if the system does not report them."""
    return _status("VmRSS")


def _status(key: str) -> int | None:
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(key)).split()[1]) * 1024
    return None


def free_memory() -> int | None:
    """Bytes that programs can still take without swapping, as the system and the control groups of this process allow;
    None if the system does not tell."""
    free: list[int] = []
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free.append(int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024)
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            free += free_in_group(controllers, group)
    return min(free, default=None)


def free_in_group(controllers: str, group: str) -> list[int]:
    """What a control group and those around it leave, in the layout of version 1 or 2."""
    if controllers and "memory" not in controllers.split(","):
        return []
    root = Path("/sys/fs/cgroup/memory" if controllers else "/sys/fs/cgroup")
    most, used = ("memory.limit_in_bytes", "memory.usage_in_bytes") if controllers else ("memory.max", "memory.current")
    inner, found = root / group.lstrip("/"), []
    for folder in (inner, *inner.parents):
        if folder.is_relative_to(root):
            with suppress(OSError, ValueError):  # "max": no limit; a container may not see its own group
                left = int((folder / most).read_text()) - int((folder / used).read_text()) + _cached(folder)
                found.append(max(0, left))
    return found


def _cached(folder: Path) -> int:
    """Bytes of files in memory, which the system gives up when programs need them."""
    for line in (folder / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("total_inactive_file", "inactive_file"):
            return int(value)
    return 0
