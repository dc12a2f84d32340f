"""Comparisons that take seconds."""

from pathlib import Path
from typing import Any

from seqlab.api import compare
from seqlab.comparison.compare import Comparison
from seqlab.comparison.execution.progress import ProgressView

SIZES = {"window": 16, "batch_size": 8, "embedding": 8, "settings": {"train.sample_tokens": 0}}
SMALL: dict[str, Any] = {
    "archs": "gru,lstm-attention",
    "seeds": 2,
    "match": "params=2000",
    "budget": "steps=40",
    "tune": 3,
    "jobs": 2,
    **SIZES,
}
OPTIONS = [
    *("--archs", "rnn,gru", "--seeds", "2", "--match", "params=1000", "--budget", "steps=30", "--tune", "0"),
    *("--window", "16", "--batch-size", "8", "--embedding", "8", "--set", "train.sample_tokens=0"),
]


def compared(directory: Path, source: str = "toy-words", **options: Any) -> Comparison:
    return compare(source, out=directory, view=ProgressView(), **options)
