"""Runs commands one by one, each in a process of its own with bounded time and memory.

As a program it is a server: it imports everything once and forks for each command, because importing takes longer than
most commands. `BoundedCommands` starts it and talks to it.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SECONDS, BYTES = 60.0, 4 << 30
PRELOADED = (
    "matplotlib.pyplot", "torch._dynamo", "onnx", "seqlab.cli.show", "seqlab.audit.audit", "seqlab.comparison.compare",
    "seqlab.training.session", "seqlab.exporters.onnx.write",
)  # fmt: skip


@dataclass(frozen=True)
class Ended:
    code: int  # negative for a signal: -9 where the time was over
    out: str
    err: str
    seconds: float
    bytes: int


class BoundedCommands:
    """Give it a folder and the words of a command; leaving it ends the server."""

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def run(self, folder: Path, words: list[str], stdin: bytes = b"", seconds: float = SECONDS) -> Ended:
        (folder / ".stdin").write_bytes(stdin)
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps([str(folder), words, seconds]) + "\n")
        self._server.stdin.flush()
        code, taken, size = json.loads(self._server.stdout.readline())
        out, err = ((folder / name).read_text(errors="replace") for name in (".stdout", ".stderr"))
        return Ended(code, out, err, taken, size)


def serve() -> None:
    from seqlab.registry import BACKBONES, TASKS

    for module in PRELOADED:
        import_module(module)
    for registry in (BACKBONES, TASKS):
        for name in registry:
            registry.load(name)
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in requests:
        answers.write(json.dumps(_bounded(*json.loads(line))) + "\n")
        answers.flush()


def _bounded(folder: str, words: list[str], seconds: float) -> tuple[int, float, int]:
    began, process = time.monotonic(), os.fork()
    if process == 0:
        _command(folder, words)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    _, status, used = os.wait4(process, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - began, used.ru_maxrss * 1024


def _command(folder: str, words: list[str]) -> Any:
    """What `python -m seqlab` does with these words, in this forked process."""
    from seqlab.__main__ import main

    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    os.chdir(folder)
    for stream, name, flags in ((0, ".stdin", os.O_RDONLY), (1, ".stdout", os.O_WRONLY), (2, ".stderr", os.O_WRONLY)):
        os.dup2(os.open(name, flags | (os.O_CREAT | os.O_TRUNC if stream else 0)), stream)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.argv = ["seqlab", *words]
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
