"""Ctrl-C and SIGTERM: the first signal makes the loop save and stop, the second ends the process at once.

Of several processes each gets Ctrl-C from the terminal and then torchrun's own signal: within a moment, two are one.
"""

import os
import signal
import threading
import time
from types import FrameType
from typing import Self

from seqlab.distributed.world import launched

MOMENT = 3.0  # seconds


class Interrupts:
    """While entered, `received` turns from None to the signal's number."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._since = 0.0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        # only the main thread may set handlers; in other threads the surrounding program keeps its own
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None and time.monotonic() - self._since >= (MOMENT if launched().size > 1 else 0):
            os._exit(128 + number)
        if self.received is None:
            self.received, self._since = number, time.monotonic()
