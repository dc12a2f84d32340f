"""A small collection in the layout of BEIR: documents of three topics, asked for by two of them and a stray word."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORDS = [
    first + second for first in ("ba", "ce", "di", "fo", "gu") for second in ("lan", "mer", "ton", "vik", "sor", "pel")
]

SMALL_ENCODER: dict[str, Any] = {
    "task.name": "embed",
    "backbone.name": "gru",
    "backbone.hidden": 8,
    "model.embedding": 8,
    "tokenizer.name": "word",
    "task.dimensions": 8,
    "task.batch_size": 8,
    "train.steps": 4,
    "train.threads": 1,
}


def write_collection(folder: Path, documents: int = 60, train: int = 30, test: int = 10) -> Path:
    """Queries for training and testing; document n is relevant to query n."""
    draw = random.Random(0)
    (folder / "qrels").mkdir(parents=True)
    corpus, queries = [], []
    for number in range(documents):
        topics = draw.sample(WORDS, 3)
        body = [draw.choice(topics) if draw.random() < 0.7 else draw.choice(WORDS) for _ in range(6 + number % 20)]
        corpus.append({"_id": f"d{number}", "title": f"{' '.join(topics)} {number}", "text": " ".join(body)})
        if number < train + test:
            asked = [*draw.sample(topics, 2), draw.choice(WORDS), str(number)]
            queries.append({"_id": f"q{number}", "text": " ".join(asked)})
    _write_lines(folder / "corpus.jsonl", map(json.dumps, corpus))
    _write_lines(folder / "queries.jsonl", map(json.dumps, queries))
    for split, numbers in {"train": range(train), "test": range(train, train + test)}.items():
        rows = (f"q{number}\td{number}\t1" for number in numbers)
        _write_lines(folder / "qrels" / f"{split}.tsv", ["query-id\tcorpus-id\tscore", *rows])
    return folder


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
