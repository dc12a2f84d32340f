"""A language model of a few hundred weights after two steps: for tests that need a finished run, not a good one."""

from pathlib import Path
from typing import Any

from seqlab import api
from seqlab.training.progress import Reporter

SMALL: dict[str, Any] = {
    "arch": "gru",
    "hidden": 8,
    "embedding": 8,
    "window": 16,
    "batch_size": 4,
    "threads": 1,
    "steps": 2,
    "sample_tokens": 0,
}


def train_small(text: Path, out: Path, **changes: Any) -> api.Run:
    return api.train(text, out=out, reporter=Reporter(), **{**SMALL, **changes})


def small_run(folder: Path) -> api.Run:
    (folder / "my.txt").write_text("the cat sat on the mat and the dog ran to the sea. " * 40, encoding="utf-8")
    return train_small(folder / "my.txt", folder / "run")
