"""All floors of one held-out text, in the nats and tokens in which a neural model is scored."""

import math
from dataclasses import dataclass

import numpy as np

from seqlab.baselines.compression import TRAIN_BYTES, xz_bits
from seqlab.baselines.kneser_ney import best_kneser_ney
from seqlab.baselines.unigram import Unigram


@dataclass(frozen=True)
class TextBaseline:
    """The summed nats of a held-out text under a model without parameters to train."""

    name: str
    nats: float
    tokens: int
    about: str
    nats_P: np.ndarray | None = None  # by scored position; None where that cannot be said


def baselines(
    train_N: np.ndarray,
    held_out_N: np.ndarray,
    vocab_size: int,
    train_text: bytes,
    held_out_text: bytes,
    train_starts_D: np.ndarray | None = None,
    held_out_starts_D: np.ndarray | None = None,
) -> list[TextBaseline]:
    """Unigram, Kneser-Ney and xz. xz reads the first token of the text as well, and is charged for it."""
    unigram_P = Unigram.fit(train_N, vocab_size, train_starts_D).nats(held_out_N, held_out_starts_D)
    kneser_ney = best_kneser_ney(train_N, vocab_size, train_starts_D)
    kneser_ney_P = kneser_ney.nats(held_out_N, starts_D=held_out_starts_D)
    tokens = len(unigram_P)

    counted = "modified Kneser-Ney, its order chosen on the end of the training text"
    if kneser_ney.fitted_tokens < len(train_N):
        counted += f"; counts of the last {kneser_ney.fitted_tokens:,} training tokens"
    compressed = "xz -9e: what the held-out text adds to the compressed training text"
    if len(train_text) > TRAIN_BYTES:
        compressed += f"; the last {TRAIN_BYTES:,} training bytes"
    return [
        TextBaseline(
            "unigram", float(unigram_P.sum()), tokens, "how often each token occurs, and one more of each", unigram_P
        ),
        TextBaseline(
            f"kneser-ney (order {kneser_ney.order})", float(kneser_ney_P.sum()), tokens, counted, kneser_ney_P
        ),
        TextBaseline("xz", xz_bits(train_text, held_out_text) * math.log(2), tokens, compressed),
    ]
