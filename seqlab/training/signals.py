"""Ctrl-C and SIGTERM: the first signal makes the loop save and stop, the second ends the process at once."""

import os
import signal
import threading
from types import FrameType
from typing import Self


class Interrupts:
    """While entered, `received` turns from None to the signal's number."""

    def __init__(self) -> None:
        self.received: int | None = None
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
        if self.received is not None:
            os._exit(128 + number)
        self.received = number
