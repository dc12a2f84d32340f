"""metrics.jsonl: one line per step and per evaluation, readable after any crash except for a torn last line."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from seqlab.storage import storage_errors, write_atomic

SAMPLE = "sample"


class MetricsLog:
    """Appends lines; opening it at a step removes the lines that an interrupted run wrote after that step.

    `writes`: False in a process that leaves it to another."""

    def __init__(self, path: Path, step: int, writes: bool = True):
        self.path, self._stream = path, None
        if not writes:
            return
        lines = [line for line in read_log(path) if line["step"] <= step]
        write_atomic(path, "".join(json.dumps(line) + "\n" for line in lines).encode())
        with storage_errors(path, 0):
            self._stream = path.open("a", encoding="utf-8", buffering=1)

    def write(self, **values: Any) -> None:
        if self._stream is None:
            return
        line = json.dumps({key: _finite(value) for key, value in values.items()}) + "\n"
        with storage_errors(self.path, len(line)):
            self._stream.write(line)

    def close(self) -> None:
        with suppress(OSError):  # lines are written at once: a failure has already been reported
            if self._stream is not None:
                self._stream.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """All complete lines."""
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict) and type(content.get("step")) is int and all(map(_is_valid, content.items())):
            lines.append(content)
    return lines


def _is_valid(item: tuple[str, Any]) -> bool:
    """Every value is a number, except for the sample of an evaluation."""
    key, value = item
    return value is None or type(value) in ((str,) if key == SAMPLE else (int, float))


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
