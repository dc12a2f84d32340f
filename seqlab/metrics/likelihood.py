"""Perplexity, bits per character and bits per byte of a scored text."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # contracts.py imports torch, and wrong settings are refused before torch is loaded
    from seqlab.contracts import TextScores


@dataclass(frozen=True)
class Likelihood:
    """Mean losses of one scored text."""

    nats_per_token: float
    perplexity: float
    bits_per_char: float
    bits_per_byte: float
    tokens: int
    spelling: float = 0.0  # percentage of the bits


def likelihood(nats: float, tokens: int, characters: int, size: int, spelling: float = 0.0) -> Likelihood:
    """From the summed nats and the tokens, characters and bytes that they were summed over.

    `spelling` is what spelling unknown tokens costs in nats. It is part of the bits, not of the loss per token."""
    per_token = nats / tokens
    perplexity = math.exp(per_token) if per_token < 700 else math.inf  # a diverged model may overflow exp
    bits = (nats + spelling) / math.log(2)
    share = 100 * spelling / (nats + spelling) if spelling else 0.0
    return Likelihood(per_token, perplexity, bits / characters, bits / size, tokens, share)


def as_metrics(values: Likelihood) -> dict[str, float]:
    """By the key of the metric; the share of spelling only where something was spelled."""
    metrics = asdict(values)
    return metrics if values.spelling else {key: value for key, value in metrics.items() if key != "spelling"}


def of_scores(scores: "TextScores") -> Likelihood:
    return likelihood(scores.nats, scores.tokens, scores.characters, scores.bytes, float(np.sum(scores.spelling_U)))
