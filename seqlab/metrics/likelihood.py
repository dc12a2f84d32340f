"""How well a text was predicted, in units that mean something."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # so that a wrong setting is refused before torch is there
    from seqlab.contracts import Scores


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


def of_scores(scores: "Scores") -> Likelihood:
    return likelihood(scores.nats, scores.tokens, scores.characters, scores.bytes)


def sentence(result: Likelihood, floor: Likelihood | None = None) -> str:
    """The result in plain words, beside counting where that is known."""
    words = f"as unsure as choosing among {choices(result):.1f} equally likely characters"
    return words + (f"; counting: {choices(floor):.1f}" if floor else "")


def choices(result: Likelihood) -> float:
    """2 to the bits per character: how many equally likely characters would leave one as unsure."""
    return 2.0 ** min(result.bits_per_char, 1000)
