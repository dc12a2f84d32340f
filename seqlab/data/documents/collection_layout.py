"""Recognizing a collection by the files of its folder, before anything is read."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


def is_collection(source: Sequence[str]) -> bool:
    """Whether the source is a folder with documents and queries in the layout of BEIR."""
    if len(source) != 1 or not source[0]:
        return False
    path = Path(source[0])
    with suppress(OSError, ValueError):  # reading says what is wrong
        return path.is_dir() and all(any(path.glob(f"{name}.jsonl*")) for name in ("corpus", "queries"))
    return False
