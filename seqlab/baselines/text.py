"""All baselines of one held-out text, in the nats and tokens in which a neural model is scored."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqlab.baselines.compression import TRAIN_BYTES, xz_bits
from seqlab.baselines.kneser_ney import best_kneser_ney
from seqlab.baselines.unigram import Unigram

Kind = Literal["unigram", "kneser-ney", "xz"]


@dataclass(frozen=True)
class TextBaseline:
    """The summed nats of a held-out text under a model that needs no gradient descent."""

    kind: Kind  # code decides by this; `name` is only displayed
    name: str
    about: str
    nats: float
    tokens: int
    carried: float  # nats if it reads on through each document, as a model does in the mode `carry`
    nats_P: np.ndarray | None = None  # per scored position; None for a compressor, which gives only the total


def score_text_baselines(
    train_N: np.ndarray,
    held_out_N: np.ndarray,
    vocab_size: int,
    train_text: bytes,
    held_out_text: bytes,
    train_starts_D: np.ndarray | None = None,
    held_out_starts_D: np.ndarray | None = None,
    window: int | None = None,
) -> list[TextBaseline]:
    """Unigram, Kneser-Ney and xz. With a window, the context of Kneser-Ney begins anew where a model's does.

    xz always reads on. It also encodes the first token, which the others take as context."""
    unigram_P = Unigram.fit(train_N, vocab_size, train_starts_D).nats(held_out_N, held_out_starts_D)
    kneser_ney = best_kneser_ney(train_N, vocab_size, train_starts_D)
    kneser_ney_P = carried_P = kneser_ney.nats(held_out_N, starts_D=held_out_starts_D)
    if window is not None:
        kneser_ney_P = kneser_ney.nats(held_out_N, starts_D=held_out_starts_D, window=window)
    tokens, unigram_nats, carried = len(unigram_P), float(unigram_P.sum()), float(carried_P.sum())

    unigram_about = "token frequencies with add-one smoothing"
    ngram_name = f"kneser-ney (order {kneser_ney.order})"
    ngram_about = "modified Kneser-Ney; the order was chosen on the end of the training text"
    if window is not None:
        ngram_about += f"; its context begins anew every {window:,} tokens, as the models' does"
    if kneser_ney.fitted_tokens < len(train_N):
        ngram_about += f"; counts of the last {kneser_ney.fitted_tokens:,} training tokens"
    xz_about = "xz -9e: the bytes that the held-out text adds to the compressed training text; it always reads on"
    if len(train_text) > TRAIN_BYTES:
        xz_about += f"; the last {TRAIN_BYTES:,} training bytes"
    xz_nats = xz_bits(train_text, held_out_text) * math.log(2)
    return [
        TextBaseline("unigram", "unigram", unigram_about, unigram_nats, tokens, unigram_nats, unigram_P),
        TextBaseline("kneser-ney", ngram_name, ngram_about, float(kneser_ney_P.sum()), tokens, carried, kneser_ney_P),
        TextBaseline("xz", "xz", xz_about, xz_nats, tokens, xz_nats),
    ]
