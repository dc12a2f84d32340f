"""A peer's training step in a process of its own, as its users run it: seqlab keeps memory for all of a process."""

import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import torch

from benchmarks.training import Step


def apart(make: Callable[..., Step], *arguments: Any, threads: int | None = None) -> Step:
    """The step that `make` makes there; it ends with this process."""
    spawn = get_context("spawn")
    here, there = spawn.Pipe()
    spawn.Process(target=_serve, args=(there, threads, make, arguments), daemon=True).start()
    here.recv()  # it is made

    def step() -> None:
        here.send(None)
        here.recv()

    return step


def _serve(parent: Connection, threads: int | None, make: Callable[..., Step], arguments: tuple[Any, ...]) -> None:
    torch.set_num_threads(threads or os.cpu_count() or 1)
    step = make(*arguments)
    parent.send(None)
    with suppress(EOFError):  # the parent has ended
        while True:
            parent.recv()
            step()
            parent.send(None)
