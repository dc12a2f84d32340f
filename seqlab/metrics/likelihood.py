"""How well a text was predicted, in units that mean something."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # so that a wrong setting is refused before torch is there
    from seqlab.contracts import TextScores


@dataclass(frozen=True)
class Likelihood:
    """Averages of one scored text."""

    nats_per_token: float
    perplexity: float
    bits_per_char: float
    bits_per_byte: float
    tokens: int


def likelihood(nats: float, tokens: int, characters: int, size: int) -> Likelihood:
    """From the summed nats and what they were summed over."""
    per_token = nats / tokens
    # a diverged model may score beyond what a float can raise e to
    perplexity = math.exp(per_token) if per_token < 700 else math.inf
    bits = nats / math.log(2)
    return Likelihood(per_token, perplexity, bits / characters, bits / size, tokens)


def of_scores(scores: "TextScores") -> Likelihood:
    return likelihood(scores.nats, scores.tokens, scores.characters, scores.bytes)
