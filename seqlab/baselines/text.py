"""All baselines of one held-out text, in the nats and tokens in which a neural model is scored."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqlab.baselines.compression import TRAIN_BYTES, xz_bits
from seqlab.baselines.kneser_ney import KneserNey, best_kneser_ney
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


@dataclass(frozen=True)
class BaselineText:
    """A text as tokens and as bytes, and where its documents start among the tokens."""

    tokens_N: np.ndarray
    text: bytes
    starts_D: np.ndarray | None = None


def score_text_baselines(
    train: BaselineText,
    held_out: BaselineText,
    vocab_size: int,
    window: int | None = None,
    kneser_ney: KneserNey | None = None,
) -> list[TextBaseline]:
    """Unigram, Kneser-Ney and xz. With a window, the context of Kneser-Ney begins anew where a model's does;
    `kneser_ney` is the best model of the training text, if it is known.

    xz always reads on. It also encodes the first token, which the others take as context."""
    held_out_N, starts_D = held_out.tokens_N, held_out.starts_D
    unigram_P = Unigram.fit(train.tokens_N, vocab_size, train.starts_D).nats(held_out_N, starts_D)
    kneser_ney = kneser_ney or best_kneser_ney(train.tokens_N, vocab_size, train.starts_D)
    kneser_ney_P = carried_P = kneser_ney.nats(held_out_N, starts_D=starts_D)
    if window is not None:
        kneser_ney_P = kneser_ney.nats(held_out_N, starts_D=starts_D, window=window)
    tokens, unigram_nats, carried = len(unigram_P), float(unigram_P.sum()), float(carried_P.sum())

    unigram_about = "token frequencies with add-one smoothing"
    ngram_name = f"kneser-ney (order {kneser_ney.order})"
    ngram_about = "modified Kneser-Ney; the order was chosen on the end of the training text"
    if window is not None:
        ngram_about += f"; its context begins anew every {window:,} tokens, as the models' does"
    if kneser_ney.fitted_tokens < len(train.tokens_N):
        ngram_about += f"; counts of the last {kneser_ney.fitted_tokens:,} training tokens"
    xz_about = "xz -9e: the bytes that the held-out text adds to the compressed training text; it always reads on"
    if len(train.text) > TRAIN_BYTES:
        xz_about += f"; the last {TRAIN_BYTES:,} training bytes"
    xz_nats = xz_bits(train.text, held_out.text) * math.log(2)
    return [
        TextBaseline("unigram", "unigram", unigram_about, unigram_nats, tokens, unigram_nats, unigram_P),
        TextBaseline("kneser-ney", ngram_name, ngram_about, float(kneser_ney_P.sum()), tokens, carried, kneser_ney_P),
        TextBaseline("xz", "xz", xz_about, xz_nats, tokens, xz_nats),
    ]
