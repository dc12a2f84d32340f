"""The lock of a run directory: two processes that train the same run would destroy each other's checkpoints."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from seqlab.distributed.world import launch_name, restarts
from seqlab.errors import UsageError
from seqlab.storage import storage_errors

LOCK = ".lock"  # it stays in the folder: removing a file that others may lock would let two of them in


class RunLocked(UsageError):
    """Another process, or another thread of this one, is writing to the run."""

    def __init__(self, path: Path, holder: dict[str, Any]):
        who = f"process {holder['pid']}, since {holder['since']}" if holder else "another process"
        super().__init__(
            f"'{path}' is in use: it is being trained by {who}. Wait until that has finished, or stop it first; "
            f"it will save a checkpoint to resume from."
        )


@contextmanager
def locked_run(path: Path) -> Iterator[None]:
    """Hold the lock of an existing run directory; RunLocked if somebody else holds it."""
    file = path / LOCK
    with storage_errors(file, 0):
        lock = FileLock(file)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise RunLocked(path, _holder(file)) from None
    try:
        with suppress(OSError):  # a full disk: others are still kept out
            file.write_text(
                json.dumps({"pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S"), "launch": launch_name()}),
                encoding="utf-8",
            )
        yield
    finally:
        lock.release()


def is_own_launch(path: Path) -> bool:
    """Whether this process was started again by torchrun, and the run was begun by the processes before it."""
    return restarts() > 0 and _holder(path / LOCK).get("launch", "") == launch_name()


def _holder(file: Path) -> dict[str, Any]:
    """Who holds the lock; empty if the file does not tell."""
    with suppress(OSError, ValueError):
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.keys() >= {"pid", "since"}:
            return content
    return {}
