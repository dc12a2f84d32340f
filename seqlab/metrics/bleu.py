"""The overlap of a translation with its reference: BLEU over words, chrF over characters, as sacrebleu computes them.

sacrebleu is imported when it is first needed. Its signature says how BLEU was computed; only scores with equal
signatures can be compared.
"""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

ORDERS = 4  # BLEU counts n-grams of 1 to 4 words
CHARACTER_ORDERS = 6  # chrF counts n-grams of 1 to 6 characters
BETA = 2  # chrF weighs recall twice as much as precision


def bleu_sums(reference: str, hypothesis: str, tokenizer: str = "13a") -> np.ndarray:
    """For one sentence: [length, reference length, correct n-grams of 1 to 4 words, all n-grams of 1 to 4 words]."""
    score = _sacrebleu(tokenizer).corpus_score([hypothesis], [[reference]])
    return np.array([score.sys_len, score.ref_len, *score.counts, *score.totals], float)


def bleu(sums_NK: np.ndarray) -> np.ndarray:
    """BLEU (Papineni et al. 2002): 100 x brevity penalty x the geometric mean of the precisions.

    Smoothed like sacrebleu's `exp`: the first order without a correct n-gram counts as half a correct one, the next as
    a quarter, and so on. BLEU is 0 if nothing is correct, or if an order has no n-grams.
    """
    length_N, reference_N = sums_NK[..., 0], sums_NK[..., 1]
    correct_NO, total_NO = sums_NK[..., 2 : 2 + ORDERS], sums_NK[..., 2 + ORDERS :]
    defined_N = (correct_NO > 0).any(-1) & (total_NO > 0).all(-1)

    missing_NO = correct_NO == 0
    smoothed_NO = np.where(missing_NO, 0.5 ** missing_NO.cumsum(-1), correct_NO)
    precision_NO = smoothed_NO / np.where(total_NO > 0, total_NO, 1)
    brevity_N = np.exp(np.minimum(0, 1 - reference_N / np.where(defined_N, length_N, 1)))
    return np.where(defined_N, 100 * brevity_N * np.exp(np.log(precision_NO).mean(-1)), 0.0)


def bleu_signature(tokenizer: str) -> str:
    metric = _sacrebleu(tokenizer)
    metric.corpus_score(["one reference"], [["one reference"]])  # the signature contains the number of references
    return str(metric.get_signature())


@cache
def _sacrebleu(tokenizer: str) -> Any:
    from sacrebleu.metrics import BLEU

    assert tokenizer in ("none", "13a", "char"), f"{tokenizer}: others may have to be downloaded"
    return BLEU(tokenize=tokenizer, smooth_method="exp", max_ngram_order=ORDERS)


def chrf_sums(reference: str, hypothesis: str) -> np.ndarray:
    """For one sentence and each order: [n-grams of the hypothesis, n-grams of the reference, n-grams in both]."""
    sums: list[int] = []
    for order in range(1, CHARACTER_ORDERS + 1):
        predicted, gold = _character_ngrams(hypothesis, order), _character_ngrams(reference, order)
        # an order for which the reference is too short does not count against the hypothesis
        sums += [predicted.total() if gold else 0, gold.total(), (predicted & gold).total()]
    return np.array(sums, float)


def chrf(sums_NK: np.ndarray) -> np.ndarray:
    """chrF2 (Popović 2015): F of mean precision and mean recall over the orders that both sides have, in percent."""
    predicted_NO, gold_NO, both_NO = (sums_NK[..., first::3] for first in range(3))
    used_NO = (predicted_NO > 0) & (gold_NO > 0)
    orders_N = np.maximum(used_NO.sum(-1), 1)
    precision_N, recall_N = (
        np.where(used_NO, both_NO / np.where(used_NO, ngrams_NO, 1), 0).sum(-1) / orders_N
        for ngrams_NO in (predicted_NO, gold_NO)
    )
    weighted_N = BETA**2 * precision_N + recall_N
    return 100 * (1 + BETA**2) * precision_N * recall_N / np.where(weighted_N > 0, weighted_N, 1)


def _character_ngrams(text: str, order: int) -> Counter[str]:
    characters = "".join(text.split())
    return Counter(characters[first : first + order] for first in range(len(characters) - order + 1))
