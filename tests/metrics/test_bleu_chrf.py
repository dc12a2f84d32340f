"""BLEU and chrF, against sacrebleu."""

import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from seqlab.metrics.bleu import bleu, bleu_signature, bleu_sums, chrf, chrf_sums

TOKENIZERS = ["none", "13a", "char"]
text = st.lists(st.sampled_from(["a", "b", "c", "Ab", "it's", "(no),", "3.5", "ä"]), max_size=9).map(" ".join)
corpora = st.lists(st.tuples(text, text) | text.map(lambda same: (same, same)), min_size=1, max_size=6)


def sums_of(sums, corpus):
    return np.stack([sums(reference, hypothesis) for hypothesis, reference in corpus])


@pytest.mark.parametrize("tokenize", TOKENIZERS)
@given(corpora)
def test_the_bleu_of_sacrebleu(tokenize, corpus):
    hypotheses, references = map(list, zip(*corpus, strict=True))
    expected = sacrebleu.corpus_bleu(hypotheses, [references], tokenize=tokenize)
    sums_K = sums_of(partial(bleu_sums, tokenizer=tokenize), corpus).sum(0)
    assert [*sums_K] == [expected.sys_len, expected.ref_len, *expected.counts, *expected.totals]
    assert bleu(sums_K) == pytest.approx(expected.score, abs=1e-9, rel=0)


counts = st.tuples(st.integers(0, 30), st.integers(0, 3))


@given(st.integers(0, 40), st.integers(0, 40), st.lists(counts, min_size=4, max_size=4))
def test_bleu_of_any_sums(length, reference, orders):
    """Also of those that few texts have: no gram of an order, or none that is correct."""
    correct, total = [right for right, _ in orders], [right + wrong for right, wrong in orders]
    length = length or total[0]
    expected = sacrebleu.BLEU.compute_bleu(list(correct), list(total), length, reference, smooth_method="exp").score
    value = bleu(np.array([length, reference, *correct, *total]))
    assert value == pytest.approx(expected, abs=1e-9, rel=0)


@given(corpora)
def test_the_chrf_of_sacrebleu(corpus):
    hypotheses, references = map(list, zip(*corpus, strict=True))
    expected = sacrebleu.corpus_chrf(hypotheses, [references]).score
    assert chrf(sums_of(chrf_sums, corpus).sum(0)) == pytest.approx(expected, abs=1e-9, rel=0)


def test_worked_by_hand():
    """All grams of three words are right but there is none of four; then one word of five is wrong and one missing."""
    short_K = bleu_sums("the cat sat down", "the cat sat", "none")
    np.testing.assert_array_equal(short_K, [3, 4, 3, 2, 1, 0, 3, 2, 1, 0])
    assert bleu(short_K) == 0
    longer_K = bleu_sums("the cat sat down on it", "the cat sat down now", "none")
    np.testing.assert_array_equal(longer_K, [5, 6, 4, 3, 2, 1, 5, 4, 3, 2])
    expected = 100 * np.exp(1 - 6 / 5) * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu(longer_K) == pytest.approx(expected)


def test_signature():
    version = f"version:{sacrebleu.__version__}"
    assert bleu_signature("13a") == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|{version}"


def test_no_tokenizer_that_would_be_downloaded():
    with pytest.raises(AssertionError, match="flores200"):
        bleu_sums("a", "a", "flores200")


@pytest.mark.parametrize(("sums", "value"), [(bleu_sums, bleu), (chrf_sums, chrf)], ids=["bleu", "chrf"])
def test_values_of_many_runs_at_once(sums, value):
    corpus = [("the cat sat on a mat", "the cat sat on the mat"), ("", "nothing"), ("all of it is", "all of it")]
    units_UK = sums_of(sums, corpus)
    values_SU = value(np.stack([units_UK, units_UK[::-1]]))
    assert values_SU.shape == (2, 3)
    np.testing.assert_allclose(values_SU[0], [value(unit_K) for unit_K in units_UK])
    np.testing.assert_allclose(values_SU[1], values_SU[0, ::-1])


def test_light_to_import():
    """What is listed or refused does not wait for sacrebleu, nor for torch."""
    heavy = "import sys, seqlab.metrics.bleu; assert not {'sacrebleu', 'torch', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", heavy], check=True)


@pytest.mark.parametrize(
    "sums",
    [*(partial(bleu_sums, tokenizer=tokenizer) for tokenizer in TOKENIZERS), chrf_sums],
    ids=[*TOKENIZERS, "chrf"],
)
def test_a_thousand_sentences_take_no_time(sums):
    words = np.random.default_rng(0).choice(["a", "man", "rides", "two", "horses", ",", "slowly"], (1000, 2, 12))
    corpus = [(" ".join(hypothesis), " ".join(reference)) for hypothesis, reference in words]
    sums("loaded", "before")
    before = time.process_time()
    sums_of(sums, corpus)
    assert time.process_time() - before < 0.5
