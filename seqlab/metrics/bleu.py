"""How much of a translation is in its reference: BLEU over words, chrF over characters, as sacrebleu has them.

The signature of each says how it was counted, so that a figure can be compared with others of the same signature.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

ORDERS = 4  # BLEU counts grams of 1 to 4 words
CHARACTER_ORDERS = 6  # and chrF of 1 to 6 characters,
BETA = 2  # in whose F the recall counts twice as much


@dataclass(frozen=True)
class Bleu:
    """BLEU of Papineni et al. (2002). `none` leaves the text's words as they are, 13a is sacrebleu's own default."""

    tokenize: Literal["none", "13a", "char"] = "13a"
    lowercase: bool = False

    def sums(self, hypothesis: str, reference: str) -> np.ndarray:
        """Of one sentence: [length, reference's length, correct grams of 1 to 4, grams of 1 to 4]."""
        counted = _bleu(self.tokenize, self.lowercase).corpus_score([hypothesis], [[reference]])
        return np.array([counted.sys_len, counted.ref_len, *counted.counts, *counted.totals], float)

    def value(self, sums_NK: np.ndarray) -> np.ndarray:
        """100 x brevity penalty x the geometric mean of the precisions.

        Where no gram of an order is correct, half of one is taken to be, at the next such order a quarter, and so on
        (sacrebleu's `exp`); where none at all is correct, or there are no grams of an order, BLEU is 0.
        """
        length_N, reference_N = sums_NK[..., 0], sums_NK[..., 1]
        correct_NO, total_NO = sums_NK[..., 2 : 2 + ORDERS], sums_NK[..., 2 + ORDERS :]
        defined_N = (correct_NO > 0).any(-1) & (total_NO > 0).all(-1)

        missing_NO = correct_NO == 0
        smoothed_NO = np.where(missing_NO, 0.5 ** missing_NO.cumsum(-1), correct_NO)
        precision_NO = smoothed_NO / np.where(total_NO > 0, total_NO, 1)
        brevity_N = np.exp(np.minimum(0, 1 - reference_N / np.where(defined_N, length_N, 1)))
        return np.where(defined_N, 100 * brevity_N * np.exp(np.log(precision_NO).mean(-1)), 0.0)

    @property
    def signature(self) -> str:
        return _signature(_bleu(self.tokenize, self.lowercase))


@dataclass(frozen=True)
class Chrf:
    """chrF2 of Popović (2015): grams of 1 to 6 characters, whitespace left out."""

    def sums(self, hypothesis: str, reference: str) -> np.ndarray:
        """Of one sentence: [grams, the reference's grams, those in both] of 1 character, of 2, and so on."""
        sums: list[int] = []
        for order in range(1, CHARACTER_ORDERS + 1):
            given, there = _grams(hypothesis, order), _grams(reference, order)
            # grams of an order that the reference is too short for are not held against the hypothesis
            sums += [given.total() if there else 0, there.total(), (given & there).total()]
        return np.array(sums, float)

    def value(self, sums_NK: np.ndarray) -> np.ndarray:
        """F of the mean precision and the mean recall over the orders of which both sides have grams, in percent."""
        given_NO, there_NO, both_NO = (sums_NK[..., first::3] for first in range(3))
        used_NO = (given_NO > 0) & (there_NO > 0)
        orders_N = np.maximum(used_NO.sum(-1), 1)
        precision_N, recall_N = (
            np.where(used_NO, both_NO / np.where(used_NO, grams_NO, 1), 0).sum(-1) / orders_N
            for grams_NO in (given_NO, there_NO)
        )
        weighted_N = BETA**2 * precision_N + recall_N
        return 100 * (1 + BETA**2) * precision_N * recall_N / np.where(weighted_N > 0, weighted_N, 1)

    @property
    def signature(self) -> str:
        return _signature(_chrf())


def _grams(text: str, order: int) -> Counter[str]:
    characters = "".join(text.split())
    return Counter(characters[first : first + order] for first in range(len(characters) - order + 1))


# --- sacrebleu, which is not loaded before it is needed -------------------------------------------------------------


@cache
def _bleu(tokenize: str, lowercase: bool) -> Any:
    from sacrebleu.metrics import BLEU

    assert tokenize in ("none", "13a", "char"), f"{tokenize}: others may have to be downloaded"
    return BLEU(tokenize=tokenize, lowercase=lowercase, smooth_method="exp", max_ngram_order=ORDERS)


@cache
def _chrf() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(char_order=CHARACTER_ORDERS, beta=BETA)


def _signature(metric: Any) -> str:
    metric.corpus_score(["one reference"], [["one reference"]])  # the signature holds their number
    return str(metric.get_signature())
