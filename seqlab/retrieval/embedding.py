"""Texts to vectors by a trained run: sorted by length, padded to the longest of each batch, without gradients.

`TextEmbedder.embed` is for texts in memory, such as queries; shards.py divides a corpus of any size.
N: texts, D: dimensions, V: vocabulary; the other letters are those of contracts.py.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Backbone, Trace
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.models.classifier import Classifier
from seqlab.models.pooling import AttentionPooling, pool
from seqlab.models.token_model import TokenModel
from seqlab.runs import manifest
from seqlab.runs.directory import CONFIG, TOKENIZER, WEIGHTS
from seqlab.runs.run import Run
from seqlab.threads import compute_threads

Pooling = Literal["mean", "last", "max", "attention", "sif"]
BATCH_TOKENS = 1 << 14  # of one batch with its padding
BATCH_PAIRS = 1 << 24  # of tokens of one text, which attention compares
SIF = 1e-3  # a of Arora et al. 2017: a token of this share of the text has half the weight of a rare one


@dataclass(frozen=True)
class Pooled:
    """How a text becomes one vector: which layer, None for the last output, and how its tokens are joined."""

    pooling: Pooling = "mean"
    layer: int | None = None


@dataclass
class Reading:
    """What reading met: counted, so that it can be said."""

    texts: int = 0
    tokens: int = 0
    unknown: int = 0  # tokens
    cut: int = 0  # texts that are longer than the model can read

    def notes(self, limit: int | None) -> list[str]:
        notes = []
        if self.cut:
            notes.append(f"{self.cut:,} of {self.texts:,} texts are longer than the {limit:,} tokens that the model reads: the rest of them has no part in their vectors")
        if self.unknown:
            notes.append(f"{self.unknown / self.tokens:.2%} of the tokens are unknown to the model")
        return notes


class TextEmbedder:
    """`embed` gives the same vector for a text, up to rounding, whatever texts it is embedded with.

    shares_V: the share of each token in the documents, for SIF weights."""

    def __init__(self, run: Run, pooled: Pooled | None = None, shares_V: np.ndarray | None = None):
        self.run, self.model, self.tokenizer = run, run.model, run.tokenizer
        self.pooled = pooled or Pooled()
        self.limit: int | None = self.model.limit
        self.seen = Reading()
        self._read = _reader(run, self.pooled, shares_V)

    @property
    def fingerprint(self) -> str:
        """Of everything that its vectors depend on but for the SIF weights: files of the run, pooling and layer."""
        files, _ = manifest.read_manifest(self.run.path)
        parts = [*(files[name][-1] for name in (CONFIG, TOKENIZER, WEIGHTS)), repr(self.pooled)]
        return " ".join(parts)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(N, D) in float32; zeros for a text without tokens."""
        rows = [self._encode(text) for text in texts]
        lengths_N = np.array([len(row) for row in rows], dtype=np.int64)
        vectors_ND: np.ndarray | None = None
        with torch.inference_mode(), compute_threads(self.run.settings.train.threads):
            for batch in length_batches(lengths_N):
                vectors_BD = self._read(*_padded([rows[row] for row in batch])).float().numpy()
                if vectors_ND is None:
                    vectors_ND = np.zeros((len(texts), vectors_BD.shape[1]), np.float32)
                vectors_ND[batch] = vectors_BD
        return np.zeros((len(texts), self.width), np.float32) if vectors_ND is None else vectors_ND

    @property
    def width(self) -> int:
        with torch.inference_mode():
            return self._read(torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1, dtype=torch.bool)).shape[1]

    def token_shares(self, texts: Iterable[str]) -> np.ndarray:
        """The share of each token in these texts (V)."""
        counts_V = np.zeros(self.tokenizer.vocab_size, np.int64)
        for text in texts:
            counts_V += np.bincount(self._ids(text), minlength=len(counts_V))
        return counts_V / max(1, counts_V.sum())

    def _encode(self, text: str) -> np.ndarray:
        ids_T = self._ids(text)
        self.seen.texts += 1
        self.seen.tokens += len(ids_T)
        if self.tokenizer.has_unknown:
            self.seen.unknown += int((ids_T == self.tokenizer.unknown).sum())
        if self.limit is not None and len(ids_T) > self.limit:
            self.seen.cut += 1
            ids_T = ids_T[: self.limit]
        return ids_T

    def _ids(self, text: str) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)  # of unknown text: it is counted
            return np.asarray(self.tokenizer.encode_array(text))
