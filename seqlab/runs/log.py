"""metrics.jsonl: one line per step and per evaluation, readable after any crash but for a torn last line."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from seqlab.storage import storage_errors, write_atomic

SAMPLE = "sample"


class MetricsLog:
    """Appends lines; opening it at a step drops whatever an interrupted run wrote beyond that step."""

    def __init__(self, path: Path, step: int):
        self.path = path
        kept = [line for line in read_log(path) if line["step"] <= step]
        write_atomic(path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        with storage_errors(path, 0):
            self._stream = path.open("a", encoding="utf-8", buffering=1)

    def write(self, **values: Any) -> None:
        line = json.dumps({key: _finite(value) for key, value in values.items()}) + "\n"
        with storage_errors(self.path, len(line)):
            self._stream.write(line)

    def close(self) -> None:
        with suppress(OSError):  # every line goes out at once: one that could not has been told of
            self._stream.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """All whole lines."""
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict) and type(content.get("step")) is int and all(map(_fits, content.items())):
            lines.append(content)
    return lines


def _fits(item: tuple[str, Any]) -> bool:
    """Everything is a number, but for the text written at an evaluation."""
    key, value = item
    return value is None or type(value) in ((str,) if key == SAMPLE else (int, float))


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
