"""A worker process and what it says. It is light to import: nodes of a cluster start workers in the same way."""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from seqlab.distributed.world import environment_alone
from seqlab.processes import python_command

Event = dict[str, Any]  # with its "kind"
ENDS = ("done", "taken", "failed", "stopped", "died")  # the kinds of the last event of a job
STOP_TIMEOUT = 10.0  # seconds for a worker to write a checkpoint


def worker_command(directory: Path, paths: Sequence[str] | None = None) -> list[str]:
    """The command of a worker that imports what is on `paths`, those of this process if not given."""
    program = "from pathlib import Path; from seqlab.comparison.execution import worker; worker.main(Path(sys.argv[1]))"
    return python_command(program, str(directory), paths=paths)


class WorkerProcess:
    """A process that runs one job at a time; `hear` gets its events from a thread, and one that says it died."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        threads: int,
        hear: Callable[[Event], None],
        cwd: Path | None = None,
    ):
        log.parent.mkdir(parents=True, exist_ok=True)
        counts = {name: str(threads) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
        with log.open("a", encoding="utf-8") as stream:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                encoding="utf-8",
                env={**environment_alone(), **counts},
                cwd=cwd,
            )
        self._hear = hear
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None and self._reader.is_alive()

    def send(self, job: str) -> None:
        """Give it a job, as JSON; if it is dead, its reader has said so or will."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            print(job, file=self._process.stdin, flush=True)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):  # a line that was cut off by its death
            for line in self._process.stdout:
                self._hear(json.loads(line))
        self._hear({"kind": "died"})

    def terminate(self) -> None:
        """Ask it to write a checkpoint and exit."""
        if self._process.poll() is None:
            self._process.terminate()

    def close(self, until: float) -> None:
        """Wait until that time for it to exit, then kill it."""
        try:
            self._process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # the worker is gone
                if pipe is not None:
                    pipe.close()


def next_events(heard: "queue.SimpleQueue[Any]", timeout: float) -> list[Any]:
    """What was heard: waits for the first, then takes the others that are there."""
    events: list[Any] = []
    with suppress(queue.Empty):
        events.append(heard.get(timeout=timeout))
        while True:
            events.append(heard.get_nowait())
    return events
