"""Token frequencies, without any context."""

import numpy as np

from seqlab.baselines.documents import first_tokens


class Unigram:
    """One probability per token, with add-one smoothing."""

    def __init__(self, counts_V: np.ndarray):
        self.nats_V = np.log(counts_V.sum() + len(counts_V)) - np.log(counts_V + 1)

    @classmethod
    def fit(cls, train_N: np.ndarray, vocab_size: int, starts_D: np.ndarray | None = None) -> "Unigram":
        predicted_N = ~first_tokens(len(train_N), starts_D)
        counts_V = np.bincount(train_N[predicted_N], minlength=vocab_size)
        assert len(counts_V) == vocab_size, f"token {len(counts_V) - 1} in a vocabulary of {vocab_size}"
        return cls(counts_V)

    def nats(self, tokens_N: np.ndarray, starts_D: np.ndarray | None = None) -> np.ndarray:
        """-ln p of every token except the first of each document."""
        return self.nats_V[tokens_N[~first_tokens(len(tokens_N), starts_D)]]
