"""Corpora for the tests: files of every form, read and encoded in this process, in small pieces."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqlab.config import CorpusSettings
from seqlab.data.corpora import documents, plan
from seqlab.data.corpora.large_text import LargeText, open_large
from seqlab.data.corpora.sharded_tokens import ShardedTokens
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import Tokenizer


def write_rows(path: Path, texts: Sequence[str], **fields: Any) -> Path:
    raw = "".join(json.dumps({"text": text, **fields}) + "\n" for text in texts).encode()
    if path.suffix == ".gz":
        raw = gzip.compress(raw)
    elif path.suffix == ".zst":
        import zstandard

        raw = zstandard.compress(raw)
    path.write_bytes(raw)
    return path


def some_texts(count: int, start: int = 0) -> list[str]:
    numbers = range(start, start + count)
    return [f"Document {number} says: the brown fox {number * 7919 % 1000} jumps.\n" for number in numbers]


def set_sizes(patch: pytest.MonkeyPatch, stretch: int, near: int, stretches: int) -> None:
    """Small stretches and shards, so that a small text has many of both."""
    patch.setattr(documents, "STRETCH", stretch)
    patch.setattr(documents, "NEAR", near)
    patch.setattr(plan, "STRETCH", stretch)
    patch.setattr(plan, "PIECE", stretch * stretches)


def large_text(*source: Path | str, **settings: Any) -> LargeText:
    return open_large(CorpusSettings(source=tuple(map(str, source)), sharded=True, **settings))


def encode(text: LargeText, tokenizer: str | Tokenizer = "byte", workers: int = 0) -> dict[str, ShardedTokens]:
    return text.encode(learned(text, tokenizer) if isinstance(tokenizer, str) else tokenizer, workers)[1]


def learned(text: LargeText, name: str) -> Tokenizer:
    kind = TOKENIZERS.load(name)
    return kind.train(text.sample_chunks(), kind.Settings())


def in_one_pass(text: LargeText, split: str, tokenizer: Tokenizer) -> np.ndarray:
    """The ids of a split, document by document."""
    return np.concatenate([tokenizer.encode_array(document) for document in text.lines(split)])


def shard_records(cache: Path) -> Iterator[Path]:
    return (path for path in sorted(cache.glob("tokens/*/0*.json")))
