"""A finished run for the tests of the run directory."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from seqlab import api
from seqlab.metrics.descriptions import BITS_PER_CHAR
from seqlab.metrics.likelihood import Likelihood
from seqlab.runs.results import RunResults, ValidationBaseline
from seqlab.training.progress import Reporter

TEXT = "".join(
    f"The {noun} saw {n} of {place}.\n" for n in range(5) for noun in ("cat", "dog", "hen") for place in "abcd"
)


def trained(folder: Path, name: str = "run", **settings: Any) -> api.Run:
    text = folder / "my.txt"
    text.write_text(TEXT, encoding="utf-8")
    small = {
        "hidden": 12,
        "embedding": 6,
        "window": 8,
        "batch_size": 4,
        "threads": 1,
        "sample_tokens": 0,
        "steps": 12,
        "lr": 0.02,
    }
    return api.train(text, out=folder / name, reporter=Reporter(), **{**small, **settings})


def metrics(nats: float, perplexity: float, bits_per_char: float, bits_per_byte: float) -> dict[str, float]:
    return asdict(Likelihood(nats, perplexity, bits_per_char, bits_per_byte, 1000))


def results(**changes: Any) -> RunResults:
    baselines = [
        ValidationBaseline("unigram", "letters alone", "reference", metrics(2.5, 12.2, 3.6, 3.5)),
        ValidationBaseline("kneser-ney (order 5)", "counting", "main", metrics(1.2, 3.3, 1.7, 1.6)),
        ValidationBaseline("xz", "compression", "reference", metrics(1.9, 6.7, 2.7, 2.6)),
    ]
    plain: dict[str, Any] = {
        "validation": metrics(1.5, 4.48, 2.16, 2.1), "headline_metric": BITS_PER_CHAR, "sentence": "as good as that",
        "criterion": 1.5, "mode": "window", "window": 16, "steps": 12, "best_step": 10, "stop_reason": "it did",
        "seconds": 1.5, "unknown_share": 0.01, "baselines": baselines, "date": "2026-11-15 12:00",
    }  # fmt: skip
    return RunResults(**{**plain, **changes})
